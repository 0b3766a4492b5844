"""Jobs on GPUs that nodes only claim: they go where GPUs are free and drivers new enough, have one pod a node, stay within an NVLink
domain or wait whole, and get the image for them. No GPU is there: a rank that begins says so, and the job fails. No InfiniBand either:
that ranks have the variables and the shared memory that NCCL reads is seen with ranks on processors."""
import contextlib
import json
import re

import images
import layout
import stage
from control_plane import kubectl
from jobs import CORA, LONG as MINUTE, GnnJob, nothing_remains, ours
from place import BedError

GPU, CLIQUE = "nvidia.com/gpu", "nvidia.com/gpu.clique"
DRIVER = "nvidia.com/cuda.driver-version.major"  # as GPU feature discovery writes it
# As NVIDIA's device plugin writes them: a cluster's UUID, and the number of a clique in it. They lie across
# the racks.
ALONE, PAIR = (f"7d9f6d1c-27a4-4bb1-9d0e-3f0f9b2c5a61.{number}" for number in (1, 2))
CLIQUES = {"n1": ALONE, "n2": PAIR, "n3": PAIR}
BY_CLIQUE = {"placement.topologyLevels": [CLIQUE, "kubernetes.io/hostname"]}


@contextlib.contextmanager
def gpus(*nodes, each=1):
    """Nodes whose status claims so many GPUs."""
    try:
        for node in nodes:
            claim(node, str(each))
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


@contextlib.contextmanager
def old_driver(node):
    """Of CUDA 12.2, where the chart's image is for CUDA 13."""
    kubectl("label", "node", node, f"{DRIVER}=535")
    try:
        yield
    finally:
        kubectl("label", "node", node, f"{DRIVER}-")


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


def leaves_out_nodes_with_old_drivers():
    """As their labels say: a job goes to the other node or, where there is none, waits and is told of the driver."""
    with gpus("n2", "n3"), old_driver("n2"):
        job = job_on_gpus("new-driver", 1).apply()
        fails_for_want_of_cuda(job, "n3")
        removed(job)
        with old_driver("n3"):
            waiting = job_on_gpus("old-driver", 1).apply()
            told = waits_for_room(waiting)
            assert "n3 has NVIDIA's driver 535, and the engine's image needs 580 or newer" in told, told
        removed(waiting)


def has_one_pod_for_a_nodes_gpus():
    """Whose ranks exchange by NVLink, where the manifest doesn't say how many share a pod; the status says why."""
    with gpus("n2", each=2):
        job = job_on_gpus("together", 2, {"placement.ranksPerServer": None, "resources.sharedMemory": "64Mi"}).apply()
        job.until("Failed", 120)
        workers, size = job.pods("worker"), job.status()["podSize"]
        assert size["ranksPerServer"] == 2 and "n2" in size["reason"], size
        limits = [each["spec"]["containers"][0]["resources"]["limits"].get(GPU) for each in workers]
        assert limits == ["2"] and workers[0]["spec"]["nodeName"] == "n2", job.told()
        removed(job)


def refuses_gpus_by_another_name():
    """All GPUs of a job have the chart's name: no slice beside them, nor instead of them, is let through."""
    for name in ("nvidia.com/mig-1g.10gb", GPU):
        job = job_on_gpus("sliced", 1)
        job.spec["template"] = {"spec": {"containers": [{"name": "engine", "resources": {"limits": {name: "1"}}}]}}
        told = ""
        try:
            job.apply()
        except BedError as error:
            told = str(error)
        assert f"GPUs can't be set (a job's GPUs are all {GPU}: use spec.resources)" in told, f"{name} to be refused, not {told!r}"


# What a pod's container is given, which its ranks read: they are sessions of its sshd.
GIVEN = {"NCCL_IB_HCA": "mlx5_0,mlx5_1", "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64", "CUDA_MPS_PIPE_DIRECTORY": "/tmp/nvidia-mps",
         "FI_EFA_USE_DEVICE_RDMA": "1", "UCX_LOG_LEVEL": "error", "OFI_NCCL_PROTOCOL": "RDMA"}
# In a worker's pod: the variables of its ranks.
VARIABLES = r"""for each in /proc/[0-9]*; do
  grep -qsx atoll $each/comm || continue
  all=$(tr '\0' '\n' <$each/environ 2>/dev/null)
  case "$all" in *OMPI_COMM_WORLD_RANK=*) echo "$all" ;; esac
done; true"""


def ranks_have_what_their_pod_is_given():
    job = GnnJob("given", MINUTE, {"resources.sharedMemory": "96Mi"})
    job.spec["template"] = {"spec": {"containers": [{"name": "engine", "env": [
        {"name": name, "value": value} for name, value in (GIVEN | {"OTHER": "1"}).items()]}]}}
    job.apply().until("Running", 120)
    job.until_epoch(2, 120)
    worker = job.worker(1)["metadata"]["name"]
    has = ours("exec", worker, "--", "bash", "-c", VARIABLES).splitlines()
    ranks = {line for line in has if re.fullmatch(r"OMPI_COMM_WORLD_RANK=\d+", line)}
    assert ranks == {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_RANK=3"}, f"both ranks of server 1, not {ranks}"
    for name, value in GIVEN.items():  # Open MPI puts its own libraries before others
        rest = "(.*:)?" if name == "LD_LIBRARY_PATH" else ""
        assert any(re.fullmatch(f"{name}={rest}{value}", line) for line in has), f"{name} among the variables of ranks:\n" + "\n".join(has)
    assert "OTHER=1" not in has, "what isn't for GPUs or networks stays behind"
    size = int(ours("exec", worker, "--", "df", "--block-size=1", "--output=size", "/dev/shm").splitlines()[-1])
    assert size == 2 * 96 << 20, f"96 MiB of /dev/shm for each of two ranks, not {size} bytes"
    job.delete()
    nothing_remains(job)


def has_an_image_for_gpus():
    """Jobs on GPUs get the one that the chart names. It starts where there is no driver, and says so; that node is left for another."""
    if not stage.make_image_for_gpus():
        print("left out: make programs-cuda makes what the image for GPUs holds")
        return
    nodes = [each for each in layout.saved().all_nodes() if each.name in ("n2", "n3")]
    images.load([images.archive_of(stage.ENGINE_CUDA)], nodes)
    stage.install_operator(**{"engineCuda.repository": stage.ENGINE_CUDA.partition(":")[0]})
    try:
        with gpus("n2", "n3"):
            job = job_on_gpus("cuda", 1, {"runPolicy.backoffLimit": 1})
            with_image = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2", "n3"]}
            job.spec["template"] = {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [with_image]}]}}}}}
            job.apply().until("Failed", 180)
            assert "the NVIDIA driver of this machine is missing" in job.condition("Failed")["message"], job.told()
            used = {container["image"] for each in job.pods() for container in each["spec"]["containers"]}
            assert used == {stage.ENGINE_CUDA}, used
            left = [(each["reason"], each["culprit"]["node"]) for each in job.status()["restarts"]]
            assert sorted(left) == [("GpuDriver", "n2"), ("GpuDriver", "n3")], f"the second try on the other node, not {left}"
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
LONG = [goes_where_gpus_are, stays_within_an_nvlink_domain, leaves_out_nodes_with_old_drivers, has_one_pod_for_a_nodes_gpus,
        refuses_gpus_by_another_name, ranks_have_what_their_pod_is_given, has_an_image_for_gpus, chooses_nothing_for_gpus]
