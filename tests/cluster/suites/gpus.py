"""Jobs on GPUs that nodes only claim: they go where GPUs are free, stay within an NVLink domain or wait whole, and get the image for
them. No GPU is there: a rank that begins says so, and the job fails."""
import contextlib
import json

import images
import layout
import stage
from control_plane import kubectl
from jobs import CORA, GnnJob, nothing_remains

GPU, CLIQUE = "nvidia.com/gpu", "nvidia.com/gpu.clique"
# As NVIDIA's device plugin writes them: a cluster's UUID, and the number of a clique in it. They lie across the racks.
ALONE, PAIR = (f"7d9f6d1c-27a4-4bb1-9d0e-3f0f9b2c5a61.{number}" for number in (1, 2))
CLIQUES = {"n1": ALONE, "n2": PAIR, "n3": PAIR}
BY_CLIQUE = {"placement.topologyLevels": [CLIQUE, "kubernetes.io/hostname"]}


@contextlib.contextmanager
def gpus(*nodes):
    """Nodes whose status claims a GPU each."""
    try:
        for node in nodes:
            claim(node, "1")
        yield
    finally:
        for node in nodes:
            claim(node, None)


def claim(node, count):
    kubectl("patch", "node", node, "--subresource=status", "--type=merge", "--patch",
            json.dumps({"status": {"capacity": {GPU: count}, "allocatable": {GPU: count}}}))


@contextlib.contextmanager
def kept_for_gpus(*nodes):
    """Nodes with the taint that keeps other pods away."""
    kubectl("taint", "node", *nodes, f"{GPU}=present:NoSchedule")
    try:
        yield
    finally:
        kubectl("taint", "node", *nodes, f"{GPU}-")


@contextlib.contextmanager
def cliques(domains):
    """Nodes with the label of an NVLink domain."""
    try:
        for node, clique in domains.items():
            kubectl("label", "node", node, f"{CLIQUE}={clique}")
        yield
    finally:
        kubectl("label", "node", *domains, f"{CLIQUE}-")


def job_on_gpus(name, ranks, changes=None):
    """Which fails once; its pods stay and can be looked at."""
    job = GnnJob(name, CORA, {"placement.ranks": ranks, "placement.ranksPerServer": 1, "runPolicy.backoffLimit": 0,
                              "runPolicy.cleanPodPolicy": "None"} | (changes or {}))
    job.spec["resources"][GPU] = 1
    return job


def nodes_of_planned(job):
    return {server["node"] for server in job.status().get("placement", {}).get("servers", [])}


def removed(*jobs):
    for job in jobs:
        job.delete()
        nothing_remains(job)


def fails_for_want_of_cuda(job, *nodes):
    """On these nodes, with a GPU for each worker. The engine of the suites has no CUDA."""
    job.until("Failed", 120)
    assert nodes_of_planned(job) == set(nodes), f"{nodes_of_planned(job)}, not {nodes}"
    assert "runs only on the CPU" in job.condition("Failed")["message"], job.told()
    workers = job.pods("worker")
    assert {each["spec"]["nodeName"] for each in workers} == set(nodes), f"pods where they were planned:\n{job.told()}"
    limits = [each["spec"]["containers"][0]["resources"]["limits"].get(GPU) for each in workers]
    assert limits == ["1"] * len(nodes), limits


def waits_for_room(job):
    """What it is told."""
    job.wait("to wait for room", 60, lambda: (job.condition("Placed") or {}).get("reason") == "NoRoom")
    assert not [each for each in job.pods("worker") if not each["spec"].get("schedulingGates")], "every pod gated"
    return job.condition("Placed")["message"]


def goes_where_gpus_are():
    """A job of two ranks, each on one, goes where GPUs are, its launcher beside them, though other pods are kept away; another one
    waits until there are more, and is told that there aren't."""
    with gpus("n2", "n3"), kept_for_gpus("n2", "n3"):
        waiting = job_on_gpus("more-gpus", 3).apply()
        assert f"1 {GPU}" in waits_for_room(waiting), waiting.told()
        job = job_on_gpus("gpus", 2).apply()
        fails_for_want_of_cuda(job, "n2", "n3")
        assert [each for each in job.pods("launcher") if each["spec"].get("nodeName") in ("n2", "n3")], job.told()
        removed(job, waiting)


def stays_within_an_nvlink_domain():
    """Three nodes have GPUs, and two of them share a domain. A job of two goes there, though it need not. One of three has to have a
    domain to itself: it waits, and is told of each domain, until a fourth node joins the larger one."""
    with gpus("n1", "n2", "n3"), cliques(CLIQUES):
        wide = job_on_gpus("wide-clique", 3, BY_CLIQUE | {"placement.within": CLIQUE}).apply()
        told = waits_for_room(wide)
        assert "needs 3 servers of 1 rank" in told and "inside one gpu.clique" in told, told
        assert f"{PAIR} has room for 2" in told and f"{ALONE} has room for 1" in told, told
        assert "even an empty cluster has room for at most 2" in told, told
        for name, changes in (("near", {}), ("inside", {"placement.within": CLIQUE})):
            job = job_on_gpus(name, 2, BY_CLIQUE | changes).apply()
            fails_for_want_of_cuda(job, "n2", "n3")
            removed(job)
        with gpus("n4"), cliques({"n4": PAIR}):
            fails_for_want_of_cuda(wide, "n2", "n3", "n4")
        removed(wide)


def has_an_image_for_gpus():
    """Jobs on GPUs get the one that the chart names. It starts where there is no driver, and says so."""
    if not stage.make_image_for_gpus():
        print("left out: make programs-cuda makes what the image for GPUs holds")
        return
    node = next(each for each in layout.saved().all_nodes() if each.name == "n2")
    images.load([images.archive_of(stage.ENGINE_CUDA)], [node])
    stage.install_operator(**{"engineCuda.repository": stage.ENGINE_CUDA.partition(":")[0]})
    try:
        with gpus(node.name):
            job = job_on_gpus("cuda", 1)
            job.spec["template"] = {"spec": {"nodeSelector": {"kubernetes.io/hostname": node.name}}}
            job.apply().until("Failed", 120)
            assert "the NVIDIA driver of this machine is missing" in job.condition("Failed")["message"], job.told()
            used = {container["image"] for each in job.pods() for container in each["spec"]["containers"]}
            assert used == {stage.ENGINE_CUDA}, used
            removed(job)
    finally:
        stage.install_operator()


def chooses_nothing_for_gpus():
    """`strategy.kind: auto` measures the machine that prepares, which has no GPU."""
    job = job_on_gpus("auto-gpus", 2, {"strategy": {"kind": "auto"}}).apply()
    job.wait("to fail", 60, lambda: job.holds("Failed"))
    assert "for GPUs nothing is chosen on a cluster" in job.condition("Failed")["message"], job.told()
    assert not job.pods("worker"), "no pod of ranks"
    removed(job)


SHORT = []
LONG = [goes_where_gpus_are, stays_within_an_nvlink_domain, has_an_image_for_gpus, chooses_nothing_for_gpus]
