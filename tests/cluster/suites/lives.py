"""What a user does to a job in its life: suspends and resumes it, sets deadlines, deletes it at a bad moment."""
import time

from control_plane import kubectl
from jobs import CORA, LONG as MINUTE, GnnJob, nothing_remains, ours
from faults import CHANGES, of_a_job_that_lost_nothing
from process import until
from stage import SYSTEM


def suspended_in_training():
    job = GnnJob("suspended", MINUTE, CHANGES).apply().until("Running", 120)
    job.until_epoch(30, 120)
    job.patch(runPolicy={"suspend": True})
    job.until("Suspended", 90)
    assert not [each for each in job.pods() if each["status"]["phase"] == "Running"], "no pod runs"
    had = len(job.losses())
    assert had >= 30, had
    time.sleep(3)
    assert len(job.losses()) == had, "a suspended job doesn't train"
    job.patch(runPolicy={"suspend": False})
    job.until("Succeeded", 240)
    assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that wasn't suspended"
    job.delete()
    nothing_remains(job)


def suspended_while_starting():
    job = GnnJob("suspended-early", CORA).apply()
    job.wait("to have pods", 60, lambda: job.pods("worker"))
    job.patch(runPolicy={"suspend": True})
    job.until("Suspended", 90)
    job.patch(runPolicy={"suspend": False})
    job.until("Succeeded", 120)
    job.delete()
    nothing_remains(job)


def ends_at_its_deadline():
    job = GnnJob("deadline", MINUTE, {"runPolicy.activeDeadlineSeconds": 15}).apply()
    job.wait("to fail", 90, lambda: job.holds("Failed"))
    assert job.condition("Failed")["reason"] == "DeadlineExceeded", job.condition("Failed")
    until("its pods to end", 60, lambda: not [each for each in job.pods() if each["status"]["phase"] == "Running"])
    job.delete()
    nothing_remains(job)


def an_image_that_isnt_there():
    """Holds no room for ever: the start deadline names the pod and why it doesn't start."""
    job = GnnJob("no-image", CORA, {"image": "example.invalid/none:1", "runPolicy.startDeadlineSeconds": 15,
                                    "runPolicy.backoffLimit": 0}).apply()
    job.wait("to fail", 120, lambda: job.holds("Failed"))
    told = job.condition("Failed")["message"]
    assert "Image" in told or "ErrImage" in told, told
    job.delete()
    nothing_remains(job)


def goes_after_its_time():
    job = GnnJob("short-lived", CORA, {"runPolicy.ttlSecondsAfterFinished": 3, "training.epochs": 5}).apply()
    until("the finished job to be deleted", 120, lambda: job.name not in ours("get", "gnn", "--output", "name"))
    nothing_remains(job)


def deleted_while_starting():
    job = GnnJob("deleted", CORA).apply()
    job.wait("to have pods", 60, lambda: job.pods("worker"))
    job.delete()
    nothing_remains(job)


def deleted_while_the_operator_is_down():
    job = GnnJob("orphaned", MINUTE, CHANGES).apply().until("Running", 120)
    kubectl("scale", "deployment/atoll", "--namespace", SYSTEM, "--replicas=0")
    try:
        job.delete()
        nothing_remains(job)
    finally:
        kubectl("scale", "deployment/atoll", "--namespace", SYSTEM, "--replicas=2")
        kubectl("rollout", "status", "deployment/atoll", "--namespace", SYSTEM, "--timeout=60s", seconds=70)


SHORT = []
LONG = [suspended_in_training, suspended_while_starting, ends_at_its_deadline, an_image_that_isnt_there,
        goes_after_its_time, deleted_while_starting, deleted_while_the_operator_is_down]
