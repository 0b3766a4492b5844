"""The operator as a process of this machine in place of its Deployment's pods, so that a test can kill or freeze it at a moment of
its choice, which the API server's audit log tells."""
import json
import re
import signal
import subprocess
import time

import stage
from control_plane import CP, KUBECONFIG, inside, kubectl
from place import BedError
from process import run, until

PORT = 9600  # of its metrics, in the control plane's network
WRITES = ("create", "patch", "update", "delete")


class OperatorHere:
    """While it exists the Deployment has no pods. It is the same replica each time it is started: it waits for no lease."""

    def __enter__(self):
        self.arguments = _arguments()
        scale(0)
        self.process = None
        self.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()  # it gives its lease back
        self.process.wait(timeout=40)
        scale(2)

    def start(self):
        command, environment = inside([stage.ATOLL.with_name("atoll-operator"), f"--kubeconfig={KUBECONFIG}", *self.arguments])
        environment |= {"POD_NAME": "here", "POD_NAMESPACE": stage.SYSTEM}
        with open(CP.log("operator-here"), "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=10)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
        self.must_live()

    def must_live(self):
        if self.process.poll() is not None:
            raise BedError(f"the operator ended with {self.process.returncode}: see {CP.log('operator-here')}")

    def lists(self):
        """How often it has listed resources from the beginning."""
        command, environment = inside(["curl", "-s", f"http://127.0.0.1:{PORT}/metrics"])
        page = run(command, env=environment)
        return sum(float(count) for count in re.findall(r"^atoll_watch_lists\S* (\S+)$", page, re.MULTILINE))


def _arguments():
    deployment = json.loads(kubectl("get", "deployment", "atoll", "--namespace", stage.SYSTEM, "--output", "json"))
    words = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    words = [re.sub("^--metrics=.*", f"--metrics=127.0.0.1:{PORT}", word) for word in words if not word.startswith("--lease=")]
    return [*words, "--lease=60"]  # it outlives a short sleep


def scale(replicas):
    kubectl("scale", "deployment/atoll", "--namespace", stage.SYSTEM, f"--replicas={replicas}")
    if replicas:
        kubectl("rollout", "status", "deployment/atoll", "--namespace", stage.SYSTEM, "--timeout=60s", seconds=70)
    else:
        until("the operator's pods to be gone", 60, lambda: not kubectl(
            "get", "pods", "--namespace", stage.SYSTEM, "--selector", "app.kubernetes.io/name=atoll", "--output", "name").strip())


class Audit:
    """What the operator asks the API server for, from now on."""

    def __init__(self):
        self.file = open(CP.folder / "log/audit.log", "rb")
        self.file.seek(0, 2)
        self.rest = b""

    def requests(self):
        """Those that have come since the last time."""
        *lines, self.rest = (self.rest + self.file.read()).split(b"\n")
        return [each for each in map(json.loads, lines) if each.get("userAgent") == "atoll-operator"]

    def writes(self):
        """Those that had their way, without leases and events; dry runs write nothing."""
        return [each for each in self.requests() if each["verb"] in WRITES and each["responseStatus"]["code"] < 300
                and each["objectRef"]["resource"] not in ("leases", "events") and "dryRun=" not in each["requestURI"]]

    def next_writes(self, seconds):
        """As soon as there is one, or none in so many seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := self.writes():
                return found
            time.sleep(0.002)  # the next write may be that near
        return []
