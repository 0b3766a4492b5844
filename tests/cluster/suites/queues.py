"""A job whose nodes Kueue's topology-aware scheduling assigns, and whose ranks we order on them: it trains there, no other order would
cost less, and what its nodes send is what the ledger says."""
import itertools
import json
import time

import kueue
import layout
import links
from fabric import FABRIC
from jobs import LONG as MINUTE, GnnJob, nothing_remains, ours
from topology import BLOCK, RACKS
from training import between_servers

HOST = "kubernetes.io/hostname"
QUEUE = (
    {"kind": "Topology", "metadata": {"name": "racks"}, "spec": {"levels": [{"nodeLabel": BLOCK}, {"nodeLabel": HOST}]}},
    {"kind": "ResourceFlavor", "metadata": {"name": "bed"}, "spec": {
        "nodeLabels": {"topology.kubernetes.io/zone": "bed"}, "topologyName": "racks"}},
    {"kind": "ClusterQueue", "metadata": {"name": "team"}, "spec": {"namespaceSelector": {}, "resourceGroups": [{
        "coveredResources": ["cpu", "memory"], "flavors": [{"name": "bed", "resources": [
            {"name": "cpu", "nominalQuota": "20"}, {"name": "memory", "nominalQuota": "20Gi"}]}]}]}},
    {"kind": "LocalQueue", "metadata": {"name": "team", "namespace": "train"}, "spec": {"clusterQueue": "team"}})
# A rank that fills most of a node on each of the four: two racks of two. A byte between racks costs as much
# as ten within one.
FOUR = {"placement.ranksPerServer": 1, "resources.cpu": "1500m", "training.epochs": 60}
WITHIN, BETWEEN = 1, 10
IDLE = 10  # seconds in which nobody trains


class Queued(GnnJob):
    def manifest(self):
        made = super().manifest()
        return {**made, "metadata": {**made["metadata"], "labels": {"kueue.x-k8s.io/queue-name": "team"}}}


def trains_where_kueue_assigns():
    with kueue.beside_ours(*QUEUE):
        job = Queued("assigned", MINUTE, FOUR)
        idle = idle_rate()
        before, began = sent(), time.monotonic()
        job.apply().until("Running", 180)
        assigned = assigned_nodes(job)
        job.until("Succeeded", 240)
        counted = sent() - before - idle * (time.monotonic() - began)
        servers = job.status()["placement"]["servers"]
        nodes = [server["node"] for server in servers]
        assert sorted(nodes) == assigned, f"servers on {assigned}, as Kueue has it, not on {nodes}"
        by_pair = json.loads((job.output() / "run.json").read_text())["bytesByPair"]
        no_order_costs_less(by_pair, nodes)
        told = between_servers(by_pair, [server["ranks"] for server in servers])
        print(f"       {told / 1e6:.0f} MB by the ledger, {counted / 1e6:.0f} MB by the nodes' links", flush=True)
        assert 1 <= counted / told <= 1.05, f"{counted:.0f} bytes went through the nodes' links, {told} by the ledger"
        job.delete()
        nothing_remains(job)


def sent():
    """By all nodes, as their racks' switches have received it."""
    received = links.received(FABRIC)
    return sum(received[node.name] for node in layout.saved().all_nodes())


def idle_rate():
    """Bytes a second: kubelets and the operator speak to the API server. The operator was just installed, and is left to settle."""
    time.sleep(IDLE)
    before, began = sent(), time.monotonic()
    time.sleep(IDLE)
    return (sent() - before) / (time.monotonic() - began)


def assigned_nodes(job):
    """Of the workers, one for each: Kueue writes them as a union of slices."""
    workload = json.loads(ours("get", "workload", f"gnnjob-{job.name}", "--output", "json"))
    [workers] = [each["topologyAssignment"] for each in workload["status"]["admission"]["podSetAssignments"] if each["name"] == "worker"]
    found = []
    for part in workers["slices"]:
        values, counts = part["valuesPerLevel"][-1], part["podCounts"]
        each = values.get("individual", {})
        names = [values["universal"]] if "universal" in values else [
            each.get("prefix", "") + root + each.get("suffix", "") for root in each["roots"]]
        pods = [counts["universal"]] * len(names) if "universal" in counts else counts["individual"]
        found += [name for name, count in zip(names, pods, strict=True) for _ in range(count)]
    return sorted(found)


def no_order_costs_less(by_pair, nodes):
    """Of all orders of these nodes, tried one by one; a rank a server, the ranks in order."""
    costs = {order: cost(by_pair, order) for order in itertools.permutations(nodes)}
    least, most = min(costs.values()), max(costs.values())
    assert costs[tuple(nodes)] <= 1.001 * least, f"{nodes} cost {costs[tuple(nodes)]}, the best order {least}, the worst {most}"


def cost(by_pair, nodes):
    rack_of = {node: rack for rack, members in RACKS.items() for node in members}
    count = len(nodes)
    weights = {(a, b): 0 if nodes[a] == nodes[b] else WITHIN if rack_of[nodes[a]] == rack_of[nodes[b]] else BETWEEN
               for a in range(count) for b in range(count)}
    return sum(weight * by_pair[a * count + b] for (a, b), weight in weights.items())


SHORT = []
LONG = [trains_where_kueue_assigns]
