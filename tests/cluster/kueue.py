"""Kueue on the bed, as tests/e2e/kueue_program.py runs it beside an API server: what its chart installs, with the program as a
process in the control plane's network."""
import contextlib
import json
import pathlib
import subprocess
import tempfile

import build
from control_plane import KUBECONFIG, inside, kubectl
from place import BedError
from process import until
from program import Program
from stage import install_operator

API = "kueue.x-k8s.io/v1beta2"
PORTS = (10295, 10296)  # of webhooks and health
QUEUES = ("localqueues", "clusterqueues", "resourceflavors", "topologies")  # each before what it names


class OnBed:
    """What kueue_program asks of a server."""

    def __init__(self, folder):
        self.folder, self.programs = pathlib.Path(folder), []

    def expect(self, *words, text=None):
        return kubectl(*map(str, words), **({} if text is None else {"input": text}), seconds=120)

    def get(self, *words):
        return json.loads(self.expect("get", *words, "-o", "json"))

    def start(self, name, *command):
        self.programs.append(Program(self.folder / f"{name}.log", *command))

    def log(self):
        return "\n".join(each.log() for each in self.programs)

    @staticmethod
    def verified_kubeconfig():
        return KUBECONFIG

    @staticmethod
    def answers(url):
        command, environment = inside(["curl", "--silent", "--fail", "--max-time", "5", url])
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def beside_ours(*resources):
    """While it runs, atoll-operator is told that queues are there. `resources`: objects of Kueue's, made once it is ready."""
    program = _program()
    with tempfile.TemporaryDirectory(prefix="atoll-kueue.") as folder:
        server = OnBed(folder)
        try:
            program.start(server, PORTS)
            kubectl("create", "--filename", "-", input=_list({"apiVersion": API, **each} for each in resources))
            install_operator(**{"kueue.enabled": "true"})
            yield server
        except BedError as error:
            raise BedError(f"{error}\nKueue said\n{server.log()}") from error
        finally:
            _take_down(program, server)
            install_operator()


def _program():
    """tests/e2e/kueue_program.py, which wants what it runs to be built."""
    build.build(["kueue", "helm"])
    try:
        import kueue_program
        return kueue_program
    except (ImportError, SystemExit) as missing:
        raise BedError(f"Kueue can't be run: {missing} (docker/install-packages docker/packages-test.txt)") from None


def _list(items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def _take_down(program, server):
    """Its queues go while it lives: they wait for its word. Then its webhooks, which nobody would answer."""
    served = kubectl("api-resources", "--api-group=kueue.x-k8s.io", "--output", "name")
    for plural in QUEUES:
        if plural in served:
            kubectl("delete", f"{plural}.kueue.x-k8s.io", "--all", "--all-namespaces", "--timeout=60s", seconds=70)
    made = list(program.objects(PORTS[0]))
    webhooks = [each for each in made if each["kind"].endswith("WebhookConfiguration")]
    rest = [each for each in made if each not in webhooks]
    for items in (webhooks, rest):
        kubectl("delete", "--ignore-not-found", "--timeout=60s", "--filename", "-", input=_list(items), seconds=90)
    for each in server.programs:
        each.end()
    kubectl("delete", "namespace", program.SPACE, "--ignore-not-found", "--timeout=60s", seconds=70)
    until("Kueue's resources to be gone", 30, lambda: "kueue" not in kubectl("get", "crd", "--output", "name"))
