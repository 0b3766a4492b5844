"""A Kubernetes API server with nothing behind it but etcd, for tests of what it takes and refuses: on loopback, at free
ports, gone when the test ends. Its programs are those of the bed (tests/cluster/bed build etcd kube-apiserver kubectl)."""
import atexit
import contextlib
import ctypes
import json
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import harness

sys.path[:0] = [str(harness.ROOT / "tests" / name) for name in ("cluster", "machines")]
import build  # noqa: E402
from place import BedError  # noqa: E402

READY_SECONDS = 90


def program(name):
    try:
        return build.program(name)
    except BedError as missing:
        return harness.skip(str(missing))


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def end_with_parent():
    """In the child: a test that is killed takes its servers with it."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def until(what, seconds, holds):
    """Waits until it holds; names what was waited for where it doesn't."""
    end = time.monotonic() + seconds
    while not holds():
        harness.expect(time.monotonic() < end, f"{what} within {seconds} s")
        time.sleep(0.2)


class ApiServer:
    """Started by its constructor, which waits until it answers; stopped when the program ends."""

    def __init__(self):
        server, self._kubectl, etcd = program("kube-apiserver"), program("kubectl"), program("etcd")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="atoll-api."))
        self._running = []
        atexit.register(self._stop)
        clients, peers, self._port = free_ports(3)
        self._start("etcd", etcd, f"--data-dir={self.folder}/etcd", f"--listen-client-urls=http://127.0.0.1:{clients}",
                    f"--advertise-client-urls=http://127.0.0.1:{clients}", f"--listen-peer-urls=http://127.0.0.1:{peers}",
                    "--unsafe-no-fsync", "--log-level=warn")
        self._start("kube-apiserver", server, *self._keys(), f"--etcd-servers=http://127.0.0.1:{clients}",
                    f"--secure-port={self._port}", "--bind-address=127.0.0.1", "--authorization-mode=RBAC", "--allow-privileged=true",
                    "--service-cluster-ip-range=10.96.0.0/16", f"--cert-dir={self.folder}/certificates",
                    "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount")
        self._wait_until_ready()

    @contextlib.contextmanager
    def hanging(self):
        """It keeps its connections, takes new ones, and answers nothing."""
        process = next(each for each in self._running if "kube-apiserver" in each.args[0])
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def kubectl(self, *words, text=None, timeout=60):
        """Runs kubectl against this server: what harness.Done holds."""
        process = subprocess.Popen([self._kubectl, f"--kubeconfig={self.folder}/kubeconfig", *map(str, words)],
                                   text=True, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env={"HOME": str(self.folder), "PATH": os.environ["PATH"]})
        if text is not None:
            process.stdin.write(text)
        process.stdin.close()
        process.stdin = None
        return harness.finish(process, timeout)

    def expect(self, *words, text=None):
        """The output of a kubectl that must succeed."""
        done = self.kubectl(*words, text=text)
        harness.expect(done.status == 0, f"kubectl {' '.join(map(str, words))} to succeed:\n{done.err}")
        return done.out

    def get(self, *words):
        return json.loads(self.expect("get", *words, "-o", "json"))

    @staticmethod
    def answers(url):
        """Whether a program that runs beside it says there that all is well."""
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def until_defined(self):
        """Every custom resource is served. (`kubectl wait` fails at once where the server has given one no condition yet.)"""
        until("the resources to be defined", 30, lambda: all(
            any(condition["type"] == "Established" and condition["status"] == "True"
                for condition in each.get("status", {}).get("conditions") or []) for each in self.get("crd")["items"]))

    @property
    def url(self):
        return f"https://127.0.0.1:{self._port}"

    @property
    def authority(self):
        """What signed the server's certificate: the file has both."""
        return self.folder / "certificates" / "apiserver.crt"

    def verified_kubeconfig(self):
        """One for clients that insist on knowing the server."""
        config = json.loads((self.folder / "kubeconfig").read_text(encoding="utf-8"))
        config["clusters"][0]["cluster"] = {"server": self.url, "certificate-authority": str(self.authority)}
        path = self.folder / "verified-kubeconfig"
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    def _keys(self):
        """A token for us, a key for service accounts, and a kubeconfig. The server signs its own certificate."""
        token, key = secrets.token_hex(16), self.folder / "service-accounts.key"
        self.token = token
        (self.folder / "tokens.csv").write_text(f'{token},admin,admin,"system:masters"\n')
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        (self.folder / "kubeconfig").write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": f"https://127.0.0.1:{self._port}",
                                                      "insecure-skip-tls-verify": True}}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}]}))
        return [f"--token-auth-file={self.folder}/tokens.csv", f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}", "--service-account-issuer=https://kubernetes.default.svc"]

    def _start(self, name, *command):
        log = open(self.folder / f"{name}.log", "w", encoding="utf-8")
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, cwd=self.folder, preexec_fn=end_with_parent)
        self._running.append(process)
        return process

    def _wait_until_ready(self):
        end = time.monotonic() + READY_SECONDS
        while self.kubectl("get", "--raw", "/readyz").out != "ok":
            dead = [process.args[0] for process in self._running if process.poll() is not None]
            if dead or time.monotonic() > end:
                log = (self.folder / "kube-apiserver.log").read_text(encoding="utf-8")[-3000:]
                raise SystemExit(f"the API server was not ready within {READY_SECONDS} s (ended: {dead}); its log ends\n{log}")
            time.sleep(0.3)

    def _stop(self):
        for process in reversed(self._running):
            process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
