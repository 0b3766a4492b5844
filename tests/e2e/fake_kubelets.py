"""Nodes of an API server that has none: pods are bound where their affinity pins them, said to run, and taken away when they
are deleted. What a pod prints, and the page of its rank 0, come from here too; nothing is run."""
import errno
import http.server
import json
import random
import ssl
import threading
import time
import urllib.error
import urllib.request

RESULT = {"status": 0, "result": {"outcome": "completed", "test": 0.81, "bestEpoch": 140, "epochs": 200}}


class _Quiet(http.server.BaseHTTPRequestHandler):
    def log_message(self, *words):
        pass

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


class FakeKubelets:
    """Runs until the test ends. `server`: an ApiServer."""

    PREPARED = {"preparedChecksum": "p", "ranks": 2, "flows": [[0, 1, 100]]}

    def __init__(self, server, nodes):
        self._server = server
        self._trust = ssl.create_default_context(cafile=server.authority)
        self.made = set()  # (role, name) of each pod that was ever seen
        self.progress = {"epoch": 7, "epochs": 200, "loss": 0.5}
        self.completes = False  # whether launchers come to their end
        self.tells_findings = True  # whether what a prepare pod found is its termination message too
        certificates = server.folder / "certificates"
        logs = self._serve("127.0.0.1", 0, lambda: "loading\n" + json.dumps(self.PREPARED) + "\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")
        logs.socket = context.wrap_socket(logs.socket, server_side=True)
        self._start(logs)
        page = self._serve_for_pods(lambda: json.dumps(self.progress))
        self.address = page.server_address[0]  # of every pod
        self._start(page)
        for node in nodes:
            self._add_node(node, logs.server_address[1])
        threading.Thread(target=self._work, daemon=True).start()

    @staticmethod
    def _serve(host, port, text):
        class Handler(_Quiet):
            def do_GET(self):
                self.answer(text())
        return http.server.ThreadingHTTPServer((host, port), Handler)

    @classmethod
    def _serve_for_pods(cls, text):
        """On a pod's port; at an address of the loopback that nobody else has, as other tests run beside this one."""
        for _ in range(1000):
            try:
                return cls._serve(f"127.{random.randint(64, 254)}.{random.randint(1, 254)}.{random.randint(1, 254)}", 9400, text)
            except OSError as taken:
                if taken.errno != errno.EADDRINUSE:
                    raise
        raise RuntimeError("none of 1,000 addresses of 127.0.0.0/8 has port 9400 free")

    @staticmethod
    def _start(server):
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def call(self, method, path, body=None):
        """The API server's answer, or None where it says no."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(self._server.url + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {self._server.token}", "Content-Type": kind})
        try:
            with urllib.request.urlopen(request, context=self._trust, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):
                print(method, path, error.code, error.read().decode()[:500])
            return None
        except OSError:  # the server has ended, and so will we
            return None

    def _add_node(self, name, port):
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        self.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})
        self.call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        self.call("PATCH", f"/api/v1/nodes/{name}/status", {"status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"},
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                            "lastTransitionTime": "2026-03-01T12:00:00Z", "lastHeartbeatTime": "2026-03-01T12:00:00Z"}]}})

    def _work(self):
        while True:
            for pod in (self.call("GET", "/api/v1/pods") or {}).get("items", []):
                self._live(pod)
            time.sleep(0.2)

    def _live(self, pod):
        metadata, spec, phase = pod["metadata"], pod["spec"], pod["status"]["phase"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        role = metadata["labels"].get("atoll.dev/role")
        self.made.add((role, metadata["name"]))
        if "deletionTimestamp" in metadata:
            self.call("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})
        elif "nodeName" not in spec:
            self._bind(path, metadata, spec)
        elif phase == "Pending":
            self._say(path, "Running", {"running": {"startedAt": "2026-03-01T12:00:00Z"}}, ready=True)
        elif phase == "Running" and (role == "prepare" or role == "launcher" and self.completes):
            found = json.dumps(self.PREPARED) if self.tells_findings else ""
            end = {"exitCode": 0, "reason": "Completed", "message": json.dumps(RESULT) if role == "launcher" else found}
            self._say(path, "Succeeded", {"terminated": end}, ready=False)

    def _bind(self, path, metadata, spec):
        if spec.get("schedulingGates"):
            return
        terms = spec.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {})
        pinned = [rule["values"][0] for term in terms.get("nodeSelectorTerms", []) for rule in term.get("matchFields", [])]
        self.call("POST", f"{path}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": pinned[0] if pinned else "n1"}})

    def _say(self, path, phase, state, ready):
        self.call("PATCH", f"{path}/status", {"status": {
            "phase": phase, "podIP": self.address, "podIPs": [{"ip": self.address}],
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [{"name": "engine", "ready": ready, "restartCount": 0, "image": "e", "imageID": "e",
                                   "state": state}]}})
