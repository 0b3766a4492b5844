"""Ranks that must share a server do, a job stays inside one rack or waits whole, and starts when room is made."""
import contextlib
import json
import re
import time

from control_plane import kubectl
from jobs import CORA, GnnJob, nothing_remains
from place import BedError
from pods import apply, pod
from process import until
from training import expected_losses

BLOCK, ARCHITECTURE = "network.topology.nvidia.com/block", "kubernetes.io/arch"
# Two servers of two ranks, one a node; inside one rack.
ONE_RACK = {"resources.cpu": "900m", "placement.within": BLOCK, "training.epochs": 20}
RACKS = {"r1": {"n1", "n2"}, "r2": {"n3", "n4"}}


def occupy(*nodes, cpu="1500m"):
    """Fills nodes with a pod of somebody else's."""
    made = [pod(f"elsewhere-{node}", nodeSelector={"kubernetes.io/hostname": node}) for node in nodes]
    for each in made:
        each["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    apply(*made)
    kubectl("wait", "--for=condition=Ready", *(f"pod/elsewhere-{node}" for node in nodes), "--timeout=60s", seconds=70)


def vacate(*nodes):
    kubectl("delete", "pod", "--ignore-not-found", *(f"elsewhere-{node}" for node in nodes), "--now")


def nodes_of(job):
    return {each["spec"]["nodeName"] for each in job.pods("worker")}


def finished(job):
    job.until("Succeeded", 120)
    job.delete()
    nothing_remains(job)


def moves_whole_to_the_other_rack():
    occupy("n1")
    try:
        job = GnnJob("one-rack", CORA, ONE_RACK).apply().until("Running", 90)
        assert nodes_of(job) == RACKS["r2"], f"both servers in r2, not on {nodes_of(job)}"
        assert [each["metadata"]["annotations"]["atoll.dev/ranks"] for each in job.pods("worker")] == ["0,1", "2,3"]
        finished(job)
    finally:
        vacate("n1")


def waits_whole_until_there_is_room():
    occupy("n1", "n3")
    try:
        job = GnnJob("no-room", CORA, ONE_RACK).apply()
        job.wait("to wait for room", 60, lambda: (job.condition("Placed") or {}).get("reason") == "NoRoom")
        message = job.condition("Placed")["message"]
        assert "2 servers of 2 ranks" in message and "r1" in message and "r2" in message, message
        assert "freeing n1 would do" in message or "freeing n3 would do" in message, message
        assert all(each["spec"].get("schedulingGates") for each in job.pods("worker")), "every pod gated"
        vacate("n3")
        job.until("Running", 60)
        assert nodes_of(job) == RACKS["r2"], nodes_of(job)
        finished(job)
    finally:
        vacate("n1", "n3")


def stands_by_server(name, strategy, model, holds):
    """Four ranks of 0.9 cores, which only two nodes' worth of consecutive pairs can be: each group on one node, and `kubectl describe`
    says which node holds what. The job learns there what it learns anywhere."""
    job = GnnJob(name, CORA, {"resources.cpu": "900m", "training.epochs": 20, "model": model, "strategy": strategy})
    job.apply().until("Succeeded", 150)
    servers = job.status()["placement"]["servers"]
    assert [server["ranks"] for server in servers] == [[0, 1], [2, 3]], servers
    assert [server["holds"] for server in servers] == holds, servers
    told = kubectl("describe", "gnn", name, "--namespace", job.manifest()["metadata"]["namespace"])
    for server in servers:
        said = rf"Holds:\s+{re.escape(server['holds'])}\s+Node:\s+{server['node']}\s"
        assert re.search(said, told), f"{said} in what describe says:\n{told}"
    placed = {"0,1": servers[0]["node"], "2,3": servers[1]["node"]}
    for pod in job.pods("worker"):  # Those of a finished job go one by one, so both, one or none are left.
        ranks = pod["metadata"]["annotations"]["atoll.dev/ranks"]
        assert pod["spec"]["nodeName"] == placed[ranks], f"ranks {ranks} are on {pod['spec']['nodeName']}, placed on {placed[ranks]}"
    assert job.losses() == expected_losses(job, 4), "the losses of a run on one machine"
    job.delete()
    nothing_remains(job)


def a_pipelines_stage_shares_a_node():
    stands_by_server("pipeline", {"kind": "gnnpipe", "gnnpipe": {"stages": 2, "chunks": 8}},
                     {"kind": "gcnii", "layers": 4, "hidden": 16}, ["stage 0", "stage 1"])


def a_granndis_server_is_a_node():
    stands_by_server("islands", {"kind": "granndis", "granndis": {"maxHop": 1, "fanout": 5}},
                     {"kind": "sage", "layers": 2, "hidden": 16}, ["server 0 and its copies", "server 1 and its copies"])


# Nodes that are said to be of another architecture stay it: kubelet would undo that with each status.
STAYS = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "stays-other"},
         "spec": {"matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"],
                                                          "resources": ["nodes", "nodes/status"]}]},
                  "validations": [{"expression": f"oldObject.metadata.labels['{ARCHITECTURE}'] != 'other' || "
                                                 f"object.metadata.labels['{ARCHITECTURE}'] == 'other'"}]}}
BOUND = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "stays-other"},
         "spec": {"policyName": "stays-other", "validationActions": ["Deny"]}}


@contextlib.contextmanager
def of_another_architecture(*nodes):
    """As the label says; none of the bed's nodes is."""
    def label(node, value):
        kubectl("label", "node", node, f"{ARCHITECTURE}={value}", "--overwrite")

    def stays(node):
        label(node, "other")
        time.sleep(1)  # a policy is in force a moment after it is made
        return not is_done(lambda: label(node, "amd64"))
    kubectl("apply", "--filename", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [STAYS, BOUND]}))
    try:
        for node in nodes:
            until(f"{node} to stay of another architecture", 30, lambda: stays(node))
        yield
    finally:
        kubectl("delete", "validatingadmissionpolicybinding/stays-other", "validatingadmissionpolicy/stays-other")
        for node in nodes:
            until(f"{node} to be as it was", 30, lambda: is_done(lambda: label(node, "amd64")))


def is_done(action):
    try:
        action()
    except BedError:
        return False
    return True


def goes_where_its_image_runs():
    """Also though the other rack is as good in all else; where too few nodes are left it is told which label they lack."""
    with of_another_architecture("n1", "n2"):
        job = GnnJob("of-amd64", CORA, ONE_RACK | {"placement.within": None}).apply().until("Running", 90)
        assert nodes_of(job) == RACKS["r2"], f"both servers in r2, not on {nodes_of(job)}"
        finished(job)
    with of_another_architecture("n1", "n2", "n3"):
        waiting = GnnJob("too-few", CORA, ONE_RACK).apply()
        waiting.wait("to wait for room", 60, lambda: (waiting.condition("Placed") or {}).get("reason") == "NoRoom")
        assert f"has not {ARCHITECTURE}=amd64" in waiting.condition("Placed")["message"], waiting.condition("Placed")
    finished(waiting)


SHORT = [moves_whole_to_the_other_rack, waits_whole_until_there_is_room, a_pipelines_stage_shares_a_node,
         a_granndis_server_is_a_node]
LONG = [goes_where_its_image_runs]
