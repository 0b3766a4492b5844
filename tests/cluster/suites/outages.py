"""Jobs whose operator or API server is lost: whatever the moment, nothing is done twice and nothing is forgotten."""
import json
import time

import life
import stage
from control_plane import CP, kubectl
from faults import CHANGES, of_a_job_that_lost_nothing, survives
from jobs import CORA, LONG as MINUTE, GnnJob, nothing_remains, ours
from operator_here import Audit, OperatorHere
from place import BedError
from process import until
from training import expected_losses

SHORT_LIFE = CHANGES | {"training.epochs": 20}


def operator_is_killed_after_each_write(most):
    """Of one job's life: each operator lives until its first write."""
    with OperatorHere() as operator:
        audit, writes = Audit(), []
        job = GnnJob("often-orphaned", CORA, SHORT_LIFE).apply()
        kills, deadline = 0, time.monotonic() + 600
        while kills < most and not job.holds("Succeeded"):
            assert time.monotonic() < deadline, f"a job that ends, not {job.status()} after {kills} operators"
            operator.must_live()
            new = audit.next_writes(seconds=5)
            if new:
                operator.kill()
                operator.start()
                kills += 1
            writes += new
        job.until("Succeeded", 120)
        writes += audit.writes()
    status = job.status()
    assert status["attempt"] == 1 and not status.get("restarts"), f"one attempt after {kills} operators: {status}"
    assert job.losses() == expected_losses(job, 4), "the losses of a job that lost nothing"
    made = [each["objectRef"]["resource"] + "/" + each["objectRef"].get("name", "") for each in writes
            if each["verb"] == "create"]
    assert len(made) == len(set(made)), f"nothing is made twice: {sorted(made)}"
    job.delete()
    nothing_remains(job)
    print(f"       {kills} operators were killed", flush=True)


def ten_operators_are_killed():
    operator_is_killed_after_each_write(10)


def every_operator_is_killed():
    operator_is_killed_after_each_write(1000)


def kill_rank_3(job):
    job.signal_ranks(1, "KILL", 3)


def restart_api_server(seconds=0):
    life.kill("cp", ["kube-apiserver"])
    time.sleep(seconds)
    life.up({})
    until("GNNJobs to be served again", 30, serves_jobs)


def serves_jobs():
    try:
        return ours("get", "gnn", "--output", "name")
    except BedError:
        return False


def the_api_server_restarts():
    """The ranks don't notice; what happens to them afterwards is seen to."""
    def fault(job):
        restart_api_server(seconds=5)
        assert not job.status().get("restarts"), "training needs no API server"
        kill_rank_3(job)
    survives("api-restart", fault, "Signal", 1)


def leader():
    lease = json.loads(kubectl("get", "lease", "atoll-operator", "--namespace", stage.SYSTEM, "--output", "json"))
    return lease["spec"]["holderIdentity"]


def the_leader_dies():
    def fault(job):
        pod = leader()
        kubectl("delete", "pod", pod, "--namespace", stage.SYSTEM, "--grace-period=0", "--force")
        kill_rank_3(job)
        until("another replica to lead", 40, lambda: leader() not in ("", pod))
    survives("leader-dies", fault, "Signal", 1)


def the_operator_is_frozen_past_compaction():
    """What it has missed can't be told to it any more: it lists everything again."""
    with OperatorHere() as operator:
        job = GnnJob("frozen", MINUTE, CHANGES).apply().until("Running", 120)
        job.until_epoch(30, 120)
        lists = operator.lists()
        operator.freeze()
        ours("delete", "pod", job.worker(1)["metadata"]["name"], "--grace-period=1")
        compact()
        restart_api_server()  # what it remembers of the past goes as well
        operator.thaw()
        until("a new list", 30, lambda: operator.lists() > lists)
        job.until("Succeeded", 240)
    assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that lost nothing"
    assert [each["reason"] for each in job.status()["restarts"]] == ["Deleted"], job.status()["restarts"]
    job.delete()
    nothing_remains(job)


def compact():
    state = json.loads(CP.run("etcdctl", "endpoint", "status", "--write-out=json"))
    CP.run("etcdctl", "compact", str(state[0]["Status"]["header"]["revision"]))


SHORT = [ten_operators_are_killed]
LONG = [every_operator_is_killed, the_api_server_restarts, the_leader_dies, the_operator_is_frozen_past_compaction]
