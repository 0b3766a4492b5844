"""Karpenter on the bed, with the provider of its own that makes nodes which kwok plays: its resources from the sources that it was
built of, the program itself on the control plane's machine. It decides as anywhere when there are to be how many nodes."""
import contextlib
import json

import build
import simulated
from control_plane import CP, kubectl
from machine import program
from pods import apply
from process import until

NAME, MODULE = "karpenter", "sigs.k8s.io/karpenter"
RESOURCES = ("kwok/apis/crds", "kwok/charts/crds")
PORTS = {"METRICS_PORT": 10290, "HEALTH_PROBE_PORT": 10291}
GRACE = 8  # of the nodes' leases, on a bed whose nodes count as silent after 12 s
KIND = "m-32x-amd64-linux"  # 32 cores: as a simulated node


@contextlib.contextmanager
def growing(nodes, played):
    """A cluster with so many simulated nodes, and Karpenter, which may add ten like them. `played`: as simulated.add() has it."""
    build.build([NAME])
    sources = build.sources(NAME, MODULE)
    folders = [sources / folder for folder in RESOURCES]
    simulated.add(nodes, 16, played, GRACE)
    try:
        for folder in folders:
            kubectl("apply", "--server-side", "--filename", folder)
        until("Karpenter's resources to be served", 30, lambda: all(
            plural in kubectl("api-resources", f"--api-group={group}")
            for group, plural in (("karpenter.sh", "nodepools"), ("karpenter.kwok.sh", "kwoknodeclasses"))))
        CP.start(NAME, ["env", "KUBECONFIG=/var/lib/bed/admin.kubeconfig", "DISABLE_LEADER_ELECTION=true",
                        "SYSTEM_NAMESPACE=kube-system", *(f"{name}={port}" for name, port in PORTS.items()),
                        program(NAME)])
        apply(*_pool())
        until("Karpenter to be ready to add nodes", 90, lambda: CP.check(NAME) or _is_ready(), CP.log(NAME))
        yield
    finally:
        _take_down(folders)


def _pool():
    """Nodes that bear the label and the taint of simulated ones, so that the same kwok plays them, and nothing else goes there."""
    def one_of(key, value):
        return {"key": key, "operator": "In", "values": [value]}
    requirements = [one_of("node.kubernetes.io/instance-type", KIND), one_of("karpenter.sh/capacity-type", "on-demand")]
    return ({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "gnn"}},
            {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gnn"}, "spec": {
                "template": {
                    "metadata": {"labels": {"type": "kwok"}},
                    "spec": {"nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "gnn"},
                             "taints": [{"key": "type", "value": "kwok", "effect": "NoSchedule"}],
                             "requirements": requirements, "expireAfter": "Never"}},
                "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
                "limits": {"cpu": 320}}})


def _is_ready():
    told = json.loads(kubectl("get", "nodepool", "gnn", "--output", "json"))
    conditions = told.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def nodes():
    """The names of those that kwok plays."""
    told = kubectl("get", "nodes", "--selector", "type=kwok", "--output", "jsonpath={.items[*].metadata.name}")
    return told.split()


def log():
    return CP.log(NAME).read_text()[-4000:]


def _take_down(folders):
    """Its nodes go while it lives: they wait for its word."""
    if CP.runs(NAME):
        kubectl("delete", "nodepools.karpenter.sh", "--all", "--timeout=60s", seconds=70)
        kubectl("delete", "nodeclaims.karpenter.sh", "--all", "--timeout=120s", seconds=130)
        CP.kill(NAME)
    kubectl("delete", "nodes", "--selector", "type=kwok", "--timeout=60s", seconds=70)
    for folder in folders:
        kubectl("delete", "--filename", folder, "--ignore-not-found", "--timeout=60s", seconds=70)
    CP.kill("kwok")
