"""Writes objects into etcd. It runs in the control plane's network.

    put.py HOST:PORT <LINES      each line: the key, a tab, the object's JSON
"""
import base64
import http.client
import json
import sys
import time

AT_ONCE = 100  # of a transaction, which may have 128 operations and 1.5 MiB
PATIENCE = 30  # seconds for etcd to answer


def main():
    server = http.client.HTTPConnection(sys.argv[1], timeout=60)
    wait_for(server)
    batch, count = [], 0
    for line in sys.stdin.buffer:
        key, _, value = line.rstrip(b"\n").partition(b"\t")
        batch.append({"requestPut": {"key": base64.b64encode(key).decode(), "value": base64.b64encode(value).decode()}})
        count += 1
        if len(batch) == AT_ONCE:
            put(server, batch)
            batch = []
    if batch:
        put(server, batch)
    print(count)


def wait_for(server):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            server.request("GET", "/health")
            if json.loads(server.getresponse().read()).get("health") == "true":
                return
        except (OSError, http.client.HTTPException, ValueError):
            server.close()
        if time.monotonic() > deadline:
            sys.exit(f"etcd doesn't answer at {sys.argv[1]}")
        time.sleep(0.2)


def put(server, batch):
    server.request("POST", "/v3/kv/txn", json.dumps({"success": batch}), {"Content-Type": "application/json"})
    answer = server.getresponse()
    text = answer.read()
    if answer.status != 200 or not json.loads(text).get("succeeded"):
        sys.exit(f"etcd takes no objects: {answer.status}: {text.decode()[:500]}")


main()
