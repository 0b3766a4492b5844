"""Jobs that lose a node or a link: the next attempt begins soon, ends with the losses of a job that lost nothing, and whatever
still runs of the one before can't write."""
import contextlib
import dataclasses
import datetime
import pathlib
import time

import cgroup
import layout
import life
import stage
from control_plane import kubectl
from fabric import FABRIC
from faults import CHANGES, of_a_job_that_lost_nothing, survives
from jobs import LONG as MINUTE, SPACE, GnnJob, nothing_remains, ours
from place import FOLDER
from process import until
from training import expected_losses

SOON = 60  # seconds
REFUSAL = "attempt 1 of this run was superseded by attempt 2"


class Blackout:
    """Pulls the plug of the node that `choose` names, and takes the time until the job has begun anew."""

    def __init__(self, choose):
        self.choose = choose

    def __call__(self, job):
        before = {each["metadata"]["name"] for each in job.pods("worker")}
        self.node = self.choose(job)
        began = time.time()
        life.kill(self.node, [])
        restart = job.wait("to tell of the restart", 120, lambda: job.status().get("restarts"))[0]
        pods = job.wait("to have a pod in the lost one's place", 30, lambda: [
            each for each in job.pods("worker") if each["metadata"]["name"] not in before])
        self.entered, self.replaced = (seconds_of(stamp) - began for stamp in (
            restart["time"], pods[0]["metadata"]["creationTimestamp"]))
        print(f"       restart entered after {self.entered:.0f} s, new pod after {self.replaced:.0f} s", flush=True)


def seconds_of(stamp):
    return datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp()


def of_worker(job):
    return job.worker(1)["spec"]["nodeName"]


def of_launcher(job):
    return job.pods("launcher")[0]["spec"]["nodeName"]


def loses_power(name, choose):
    blackout = Blackout(choose)
    try:
        restart, _, _ = survives(name, blackout, "NodeLost", 0)
    finally:
        life.up({})
    assert restart["culprit"]["node"] == blackout.node, restart
    assert max(blackout.entered, blackout.replaced) <= SOON, f"within {SOON} s of the node's death"


def a_node_loses_power():
    loses_power("node-lost", of_worker)


@contextlib.contextmanager
def patience(node_grace, toleration):
    """Seconds until the control plane calls a silent node NotReady, and until the operator gives it up after that."""
    plan = layout.saved()
    try:
        let_nodes_be_silent(dataclasses.replace(plan, node_grace=node_grace))
        stage.install_operator(**{"jobs.tolerationSeconds": toleration})
        yield
    finally:
        let_nodes_be_silent(plan)
        stage.install_operator()


def let_nodes_be_silent(plan):
    """As long as this layout says."""
    if plan != layout.saved():
        plan.save()
        life.kill("cp", ["kube-controller-manager"])
        life.up({})


def the_launchers_node_loses_power():
    """Nobody is left who could tell of it, so it takes as long as a silent node is tolerated by the chart's default."""
    with patience(layout.saved().node_grace, 30):
        loses_power("launcher-lost", of_launcher)


def a_node_loses_power_at_kubernetes_defaults():
    """Its NotReady takes most of a minute; what the launcher has seen saves the rest."""
    with patience(50, 30):
        loses_power("node-lost-slowly", of_worker)


def a_node_is_silent_while_its_ranks_run():
    """Kubelet and containerd are killed: the pods run on, must not write any more, and are removed when the node is back."""
    lost = []

    def fault(job):
        lost.append(job.worker(0)["spec"]["nodeName"])
        life.kill(lost[0], ["kubelet", "containerd"])
    try:
        restart, _, _ = survives("node-silent", fault, "NodeLost", 0)
        assert restart["culprit"]["node"] == lost[0], restart
    finally:
        life.up({})
    until("the silent node's pods to be gone", 60, lambda: not running_on(lost[0]))


def a_whole_attempt_runs_on_and_is_refused():
    """All ranks and the launcher are on the silent node: nothing but the attempt's number keeps them from writing where the next
    attempt does."""
    job = GnnJob("fenced", MINUTE, {"placement.ranksPerServer": 4, "resources.cpu": "450m"}).apply().until("Running", 120)
    job.until_epoch(30, 120)
    launcher = job.pods("launcher")[0]
    node = launcher["spec"]["nodeName"]
    assert node == job.worker(0)["spec"]["nodeName"], "the launcher beside its only server"
    try:
        life.kill(node, ["kubelet", "containerd"])
        job.wait("to have a second attempt in its folder", 120, lambda: attempt_in_folder(job) == "2")
        assert ranks_on(node), "the first attempt's ranks run on"
        until("their next checkpoint to end them", 60, lambda: not ranks_on(node))
        assert REFUSAL in last_words(node, launcher), last_words(node, launcher)
        job.until("Succeeded", 240)
    finally:
        life.up({})
    assert job.losses() == expected_losses(job, 4), "the losses of a job that lost nothing"
    until("the silent node's pods to be gone", 60, lambda: not running_on(node))
    job.delete()
    nothing_remains(job)


def attempt_in_folder(job):
    return (job.output() / "attempt").read_text().split()[0]


def ranks_on(node):
    """Pids of ranks that train there, whoever made them."""
    return [pid for pid in cgroup.processes(node) if "\0train\0" in command_line(pid)]


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:  # it has just ended
        return ""


def last_words(node, pod):
    """What its engine left for kubelet to read."""
    files = (FOLDER / node / "lib/kubelet/pods" / pod["metadata"]["uid"] / "containers/engine").iterdir()
    return "".join(file.read_text() for file in files)


def running_on(node):
    pods = ours("get", "pods", "--field-selector", f"spec.nodeName={node},status.phase=Running", "--output", "name")
    return pods.strip()


def a_link_is_cut(seconds):
    def fault(job):
        node = job.worker(1)["spec"]["nodeName"]
        FABRIC.run("ip", "link", "set", node, "down")
        time.sleep(seconds)
        FABRIC.run("ip", "link", "set", node, "up")
    return fault


def a_link_is_cut_for_long():
    restart, _, _ = survives("link-cut", a_link_is_cut(45), "NodeLost", 0)
    assert restart["culprit"]["node"], restart


def a_link_is_cut_for_a_moment():
    """TCP sends again what was lost: the job goes on and nothing is restarted."""
    job = GnnJob("link-moment", MINUTE, CHANGES).apply().until("Running", 120)
    job.until_epoch(30, 120)
    a_link_is_cut(4)(job)
    job.until("Succeeded", 240)
    assert not job.status().get("restarts"), job.status()["restarts"]
    assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that lost nothing"
    job.delete()
    nothing_remains(job)


def a_node_is_registered_anew():
    """Its object is deleted by mistake and its kubelet, which is started again, makes another: the ranks there have run on, and nothing
    is lost."""
    with patience(layout.saved().node_grace, 30):
        job = GnnJob("registered-anew", MINUTE, CHANGES).apply().until("Running", 120)
        job.until_epoch(10, 120)
        node = of_worker(job)
        before = {each["metadata"]["uid"] for each in job.pods("worker")}
        try:
            life.kill(node, ["kubelet"])
            kubectl("delete", "node", node, "--timeout=20s", seconds=30)
        finally:
            life.up({})
        job.until("Succeeded", 240)
        assert not job.status().get("restarts"), job.status()["restarts"]
        assert {each["metadata"]["uid"] for each in job.pods("worker")} <= before, "no pod in another's place"
        assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that lost nothing"
        job.delete()
        nothing_remains(job)


SHORT = [a_node_loses_power]
LONG = [the_launchers_node_loses_power, a_node_loses_power_at_kubernetes_defaults, a_node_is_silent_while_its_ranks_run,
        a_whole_attempt_runs_on_and_is_refused, a_node_is_registered_anew, a_link_is_cut_for_a_moment, a_link_is_cut_for_long]
