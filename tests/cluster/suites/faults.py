"""Jobs that lose a rank or a pod, or whose rank stands still: they end with the losses of a job that lost nothing, the culprit
is named, and nothing is left."""
import json

from control_plane import kubectl
from jobs import LONG as MINUTE, SPACE, GnnJob, nothing_remains, ours
from place import BedError
from training import expected_losses

CHANGES = {"resources.cpu": "900m"}  # one server a node
expected = None
# In a worker's pod: takes memory until the rank of this number, whom the kernel is told to prefer, is killed
# for it.
FILL = r"""for each in /proc/[0-9]*; do
  grep -qsx atoll $each/comm || continue
  tr '\0' '\n' <$each/environ 2>/dev/null | grep -q '^OMPI_COMM_WORLD_RANK=%s$' || continue
  echo 1000 >$each/oom_score_adj && victim=${each#/proc/}
done
exec perl -e '$rank = shift; while (kill 0, $rank) { $all .= "x" x (8 << 20); select undef, undef, undef, .02 }' $victim"""


def of_a_job_that_lost_nothing(job):
    """The losses, trained once for all checks."""
    global expected
    expected = expected or expected_losses(job, 4)
    return expected


def survives(name, fault, reason, counts, changes=None):
    """Runs a job of a minute, lets `fault` happen in its midst, and waits for its good end. Returns the restart as the
    status tells it."""
    job = GnnJob(name, MINUTE, CHANGES | (changes or {})).apply()
    job.until("Running", 120)
    job.until_epoch(30, 120)
    before = {each["metadata"]["name"]: each["spec"]["nodeName"] for each in job.pods("worker")}
    fault(job)
    job.wait("to tell of the restart", 120, lambda: job.status().get("restarts"))
    job.until("Succeeded", 240)
    assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that lost nothing"
    assert job.status()["progress"]["epoch"] == len(job.losses()), job.status()["progress"]
    restarts = job.status()["restarts"]
    assert [each["reason"] for each in restarts] == [reason], f"one restart, for {reason}, not {restarts}"
    assert job.status().get("failures", 0) == counts, f"{counts} failures that count, not {job.status().get('failures')}"
    after = {each["metadata"]["name"]: each["spec"]["nodeName"] for each in job.pods("worker")}
    # While there is a job, the operator removes the pod that hangs on a dead node once its grace is over, and
    # nobody does after it.
    job.wait("to have no pod that hangs", 60, lambda: not [
        each for each in job.pods("worker") if "deletionTimestamp" in each["metadata"]])
    job.delete()
    nothing_remains(job)
    return restarts[0], before, after


def a_rank_is_killed():
    restart, before, after = survives("rank-killed", lambda job: job.signal_ranks(1, "KILL", 3), "Signal", 1)
    culprit = restart["culprit"]
    assert (culprit.get("rank"), culprit.get("signal")) == (3, "SIGKILL"), restart
    assert before == after or not after, f"healthy pods are kept: {before}, {after}"


def a_pod_is_deleted():
    def fault(job):
        ours("delete", "pod", job.worker(1)["metadata"]["name"], "--wait=false", "--grace-period=1")
    survives("pod-deleted", fault, "Deleted", 0)


def a_pod_is_evicted():
    def fault(job):
        name = job.worker(0)["metadata"]["name"]
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": SPACE}}
        kubectl("create", "--raw", f"/api/v1/namespaces/{SPACE}/pods/{name}/eviction", "--filename", "-",
                input=json.dumps(eviction))
    survives("pod-evicted", fault, "Evicted", 0)


SCRATCH = {"volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "16Mi"}}],
           "containers": [{"name": "engine", "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}]}


def a_pod_outgrows_its_scratch():
    """Kubelet evicts it as well, but for nobody else's need: it is a failure of the job's. Kubelet looks every 10 s, and a rank that
    stands still keeps the job from ending before."""
    def fault(job):
        job.signal_ranks(1, "STOP", 3)
        ours("exec", job.worker(1)["metadata"]["name"], "--", "bash", "-c", "head -c 64M /dev/zero >/scratch/all")
    survives("scratch-outgrown", fault, "OverLimit", 1, {"template": {"spec": SCRATCH}})


def a_rank_is_killed_for_memory():
    def fault(job):
        try:
            ours("exec", job.worker(1)["metadata"]["name"], "--", "bash", "-c", FILL % 3)
        except BedError as error:  # kubelet may have the kernel kill all of a container, and so what fills it
            assert "exit code 137" in str(error), error
    restart, _, _ = survives("rank-oom", fault, "OOMKilled", 1)
    assert restart["culprit"].get("rank") == 3, restart


def a_rank_stands_still():
    """The others wait for it and none says anything wrong: what no longer advances is started again."""
    restart, _, _ = survives("stalled", lambda job: job.signal_ranks(1, "STOP", 3), "Stalled", 1,
                             {"runPolicy.progressDeadlineSeconds": 20})
    assert restart["culprit"].get("rank") == 3 and restart["culprit"].get("pod"), restart


def too_little_memory_is_refused():
    """A limit that the ranks would outgrow: the plan knows, and none of them starts."""
    job = GnnJob("oom", MINUTE, CHANGES | {"model.hidden": 1024, "resources.memory": "100Mi",
                                         "runPolicy.backoffLimit": 1}).apply()
    job.wait("to fail", 240, lambda: job.holds("Failed"))
    restarts = job.status()["restarts"]
    assert restarts and restarts[0]["reason"] == "PrepareFailed", restarts
    assert "resources.memory: 100 MiB is too little" in job.condition("Failed")["message"], job.condition("Failed")
    job.delete()
    nothing_remains(job)


SHORT = [a_rank_is_killed]
LONG = [a_pod_is_deleted, a_pod_is_evicted, a_pod_outgrows_its_scratch, a_rank_is_killed_for_memory, a_rank_stands_still,
        too_little_memory_is_refused]
