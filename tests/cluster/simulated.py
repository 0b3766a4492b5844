"""Nodes that exist in the API server alone: kwok plays their kubelets, so that a thousand of them and their
pods cost next to nothing. They carry the label type=kwok and a taint, so that only pods meant for them go
there."""
import json

import build
import pki
from control_plane import CP, PKI, kubectl
from layout import saved
from machine import program
from place import BedError
from process import until

PORT = 10247  # of all their kubelets
PODS = "10.200.0.0/16"  # addresses of pods that kwok plays
GRACE = 40  # kwok renews the leases of many nodes at leisure
PARALLEL = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration",
            "options": {"podPlayStageParallelism": 64, "nodePlayStageParallelism": 64}}


def add(count, per_block, played=(), grace=GRACE):
    """Adds nodes k0001, k0002, …, in blocks of `per_block`, and waits until they are Ready. `played`: documents of kwok's
    configuration, of how pods are played if not as kwok does by itself. `grace`: how long leases last; a few nodes' can be short."""
    if saved().node_grace < grace:
        raise BedError(f"simulated nodes need a bed that was brought up with --node-grace {grace} or more; "
                       f"this one has {saved().node_grace}")
    play(played, grace)
    nodes = [node(number, per_block) for number in range(1, count + 1)]
    kubectl("apply", "--server-side", "--filename", "-", seconds=300,
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    until_ready(count)


def play(played=(), grace=GRACE):
    """Starts kwok, for the nodes that are there or come. `grace` 0: nobody renews their leases."""
    if saved().family != "ipv4":
        raise BedError("simulated nodes have IPv4 addresses: bring the bed up with --family ipv4")
    build.build(["kwok"])
    ours = saved().addresses
    (CP.bed / "kwok.yaml").write_text("\n---\n".join([json.dumps(PARALLEL), *played]))
    (CP.bed / "kwok.kubeconfig").write_text(pki.kubeconfig(PKI, "admin", ours.server))
    CP.start("kwok", [
        program("kwok"), "--config=/var/lib/bed/kwok.yaml",
        "--kubeconfig=/var/lib/bed/kwok.kubeconfig", "--manage-all-nodes=false",
        "--manage-nodes-with-label-selector=type=kwok", f"--node-lease-duration-seconds={grace}",
        f"--node-ip={ours.api_server}", f"--cidr={PODS}", f"--node-port={PORT}",
        f"--server-address={ours.api_server}:{PORT}",
        "--tls-cert-file=/var/lib/bed/pki/api-server.crt", "--tls-private-key-file=/var/lib/bed/pki/api-server.key"])


def until_ready(count, seconds=120):
    until(f"{count} simulated nodes to be Ready", seconds, lambda: CP.check("kwok") or _ready() >= count, CP.log("kwok"))


def node(number, per_block):
    """The node of that number, from 1 on, as somebody creates it; kwok tells the rest of its status."""
    name, block = f"k{number:04}", (number - 1) // per_block + 1
    room = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}
    labels = {"type": "kwok", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
              "topology.kubernetes.io/zone": "simulated", "network.topology.nvidia.com/block": f"b{block:03}"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"taints": [{"key": "type", "value": "kwok", "effect": "NoSchedule"}]},
            "status": {"capacity": room, "allocatable": room}}


def _ready():
    told = kubectl("get", "nodes", "--selector", "type=kwok", "--no-headers", seconds=60)
    return sum(line.split()[1] == "Ready" for line in told.splitlines())
