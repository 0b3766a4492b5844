"""Creates objects as fast as the API server takes them. It runs in the control plane's network, beside `kubectl`, whose client
lets through 50 a second.

    submit.py KUBECONFIG AT_ONCE <LINES      each line: {"path": "/api/v1/namespaces/n/pods", "object": {…}}
"""
import base64
import http.client
import json
import ssl
import sys
import threading
import urllib.parse

AGENT = "submit/1"


def main():
    config = json.load(open(sys.argv[1], encoding="utf-8"))
    lines = iter(sys.stdin.readlines())
    lock, problems = threading.Lock(), []
    threads = [threading.Thread(target=work, args=(config, lines, lock, problems)) for _ in range(int(sys.argv[2]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.exit("\n".join(problems[:3]) or 0)


def work(config, lines, lock, problems):
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    server = http.client.HTTPSConnection(urllib.parse.urlsplit(cluster["server"]).netloc, context=trust, timeout=60)
    headers = {"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json", "User-Agent": AGENT}
    while not problems:
        with lock:
            line = next(lines, None)
        if line is None:
            return
        wish = json.loads(line)
        server.request("POST", wish["path"], json.dumps(wish["object"]), headers)
        answer = server.getresponse()
        text = answer.read()
        if answer.status != 201:
            problems.append(f"{wish['path']}: {answer.status}: {text.decode()[:500]}")


main()
