"""Pods that end all the time, each with a successor on a node that has lost one a second before. It runs in the control plane's
network until it is ended.

    churn.py KUBECONFIG NAMESPACE A_SECOND <LINES      each line: a pod's name, a space, its node
"""
import base64
import collections
import http.client
import json
import os
import random
import ssl
import sys
import threading
import time
import urllib.parse

AGENT = "churn/1"
THREADS = 8
REST = 1.0  # seconds between an end and the successor
CPU = "1"


def main():
    config, space, rate = json.load(open(sys.argv[1], encoding="utf-8")), sys.argv[2], float(sys.argv[3])
    pods = [line.split() for line in sys.stdin]
    random.Random(1).shuffle(pods)
    threads = [threading.Thread(target=work, args=(Client(config), space, THREADS / rate, pods[first::THREADS], first))
               for first in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Client:
    def __init__(self, config):
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self._server = http.client.HTTPSConnection(urllib.parse.urlsplit(cluster["server"]).netloc, context=trust, timeout=60)
        self._headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json", "User-Agent": AGENT}

    def call(self, verb, path, thing):
        self._server.request(verb, path, json.dumps(thing), self._headers)
        answer = self._server.getresponse()
        text = answer.read()
        if answer.status >= 300:
            print(f"{verb} {path}: {answer.status}: {text.decode()[:500]}", flush=True)
            os._exit(1)  # all threads: whoever measures looks whether this runs


def work(client, space, interval, pods, number):
    path = f"/api/v1/namespaces/{space}/pods"
    alive, gone, made = collections.deque(pods), collections.deque(), 0
    begin = time.monotonic() + interval * number / THREADS
    for turn in range(sys.maxsize):
        time.sleep(max(0, begin + turn * interval - time.monotonic()))
        name, node = alive.popleft()
        client.call("DELETE", f"{path}/{name}", {"gracePeriodSeconds": 0})
        gone.append((time.monotonic(), node))
        if gone[0][0] <= time.monotonic() - REST:
            made += 1
            successor = f"next-{number}-{made:06}", gone.popleft()[1]
            client.call("POST", path, pod(*successor))
            alive.append(successor)


def pod(name, node):
    container = {"name": "main", "image": "registry.example.com/team/app:v1.2.3",
                 "resources": {"requests": {"cpu": CPU, "memory": "512Mi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "nodeName": node, "containers": [container], "automountServiceAccountToken": False,
        "tolerations": [{"key": "type", "operator": "Exists"}]}}


if __name__ == "__main__":
    main()
