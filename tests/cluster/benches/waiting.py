"""Gangs that wait while pods end all the time (B2): what the operator spends on them, how soon one is released once there is room,
and how soon a job that lost a rank is seen to.

Two servers of a gang must be in one block, each node of which is full but for one: every server has a place somewhere, where its job
is prepared, and no gang has. Small pods end and begin elsewhere, which never suffices. Where a large one ends, a gang has room."""
import json
import pathlib
import sys
import time

import preload
from burst import submit
from contestants import CLAIM, FAKE, Atoll, metrics
from control_plane import CP, KUBECONFIG, kubectl
from crowd import bed, figure, running
from place import BedError
from program import Program
from trail import WRITES, AuditLog, Trail, moment, what, who

SPACE, SERVERS, SHAPES = "wait", 2, 20
BLOCK = "network.topology.nvidia.com/block"
PER_BLOCK, SMALL = 16, 4       # nodes of a block; small pods of a node, of a core each
ENDS = 20                      # pods that end in a second
SETTLES, WINDOW = 20, 60       # seconds with nothing but pods that end; each gang is looked at once a minute
EVENTS, ROOM_TAKES, LOSS_TAKES = 10, 5, 2  # how often each is tried; seconds for it
CHURN = pathlib.Path(__file__).with_name("churn.py")


def fill(number):
    """The pods on a node of 32 cores: all but 3 are taken, or, on the first of a block, all but 9."""
    node = f"k{number:04}"
    large = preload.Pod(f"large-{number:05}", node, "19" if number % PER_BLOCK == 1 else "25")
    return [large, *(preload.Pod(f"small-{number:05}-{which}", node, "1") for which in range(SMALL))]


def wishes(gangs):
    """Of 20 shapes: servers of 8 to 8.95 cores."""
    claim = {"persistentVolumeClaim": {"claimName": CLAIM}}
    for gang in range(gangs):
        job = {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": f"gang-{gang:04}"}, "spec": {
            "dataset": {"name": "cora", "volume": claim}, "model": {"kind": "gcn", "layers": 2, "hidden": 16},
            "training": {"epochs": 200}, "strategy": {"kind": "graph"},
            "placement": {"ranks": SERVERS, "ranksPerServer": 1, "within": BLOCK, "topologyLevels": [BLOCK, "kubernetes.io/hostname"]},
            "resources": {"cpu": f"{8000 + 50 * (gang % SHAPES)}m", "memory": "4Gi"}, "template": {"spec": FAKE}}}
        yield {"path": f"/apis/atoll.dev/v1alpha1/namespaces/{SPACE}/gnnjobs", "object": job}


def gangs_that_wait(nodes, gangs, limit):
    """`limit`: seconds for all of them to wait."""
    cluster = preload.Cluster(nodes, fill, PER_BLOCK)
    with bed(cluster, {SPACE: SERVERS}), running(Atoll()) as program:
        begin = time.monotonic()
        waiting = let_wait(gangs, program, limit)
        cell = {"whole": waiting >= gangs, "limit": limit, "times": {"all wait": round(time.monotonic() - begin, 1)}}
        churn = start_churn(cluster)
        try:
            quiet = spend(program, churn)
            released = [release(number) for number in range(1, EVENTS + 1)]
            decided = [lose(job) for job in jobs_that_run()]
            churn.check()
        finally:
            churn.end()
        cell["peak MiB"] = program.peak_mib()
    if not waiting:
        raise BedError(f"no gang waits for room after {limit} s")
    return cell | {"figures": [
        figure("gangs that wait", waiting),
        figure("pods that end", quiet["ends"], None, "a second"),
        figure("processor time", quiet["cpu"], 0.2, "cores"),
        figure("writes to the API server meanwhile", quiet["writes"], None, "a second"),
        figure(f"from room to release, the longest of {len(released)}", longest(released, ROOM_TAKES), 1, "s"),
        figure(f"from a lost rank to the decision, the longest of {len(decided)}", longest(decided, LOSS_TAKES), 1, "s")]}


def longest(seconds, waited):
    """What didn't come in time took as long at least as it was waited for; None where nothing was tried."""
    return max((waited if each is None else each for each in seconds), default=None)


def let_wait(gangs, program, limit):
    """How many wait for room in the end."""
    trail = Trail(SPACE)
    submit(wishes(gangs))
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        time.sleep(2)
        program.check()
        CP.check("kwok")
        trail.follow()
        made = sum(times for (agent, verb, kind, code), times in trail.requests.items()
                   if (agent, verb, kind) == (Atoll.agent, "create", "pods") and code < 300)
        if made >= gangs * (1 + SERVERS) and state("Waiting") >= gangs:  # each has been prepared, and has its pods
            break
    return state("Waiting")


def state(name):
    line = f'atoll_jobs{{state="{name}"}} '
    return next((round(float(each.removeprefix(line))) for each in metrics().splitlines() if each.startswith(line)), 0)


def start_churn(cluster):
    """Also on nodes with room for a server: a small pod more or less never makes it two."""
    small = [pod for number in range(1, cluster.nodes + 1) for pod in fill(number) if pod.name.startswith("small-")]
    lines = "".join(f"{pod.name} {pod.node}\n" for pod in small)
    return Program(CP.log("churn"), sys.executable, CHURN, KUBECONFIG, preload.OTHERS, ENDS, given=lines)


def spend(program, churn):
    """A second, in WINDOW seconds in which pods end and nothing else happens."""
    time.sleep(SETTLES)
    log, spent, begin = AuditLog(), program.cpu_seconds(), time.monotonic()
    ends = writes = 0
    while time.monotonic() < begin + WINDOW:
        time.sleep(1)
        program.check()
        churn.check()
        for event in log.news():
            ends += who(event) == "churn" and event["verb"] == "delete" and event["responseStatus"]["code"] < 300
            writes += who(event) == Atoll.agent and event["verb"] in WRITES
    seconds = time.monotonic() - begin
    return {"cpu": (program.cpu_seconds() - spent) / seconds, "ends": ends / seconds, "writes": writes / seconds}


def release(block):
    """Ends the large pod of the second node of a block; seconds until a worker is released, None where none was in time."""
    log = AuditLog()
    delete(preload.OTHERS, f"large-{(block - 1) * PER_BLOCK + 2:05}", "--grace-period=0", "--force")
    return after_deletion(log, ROOM_TAKES, lambda event: what(event) == "pods" and event["verb"] == "patch"
                          and "-launcher" not in event["objectRef"].get("name", ""))


def jobs_that_run():
    told = json.loads(kubectl("get", "pods", "--namespace", SPACE, "--selector", "atoll.dev/role=launcher", "--output", "json",
                              seconds=120))
    run = [each["metadata"]["labels"]["atoll.dev/job"] for each in told["items"] if each.get("status", {}).get("phase") == "Running"]
    return sorted(run)[:EVENTS]


def lose(job):
    """Takes a worker away; seconds until the job's status is written."""
    log = AuditLog()
    pods = kubectl("get", "pods", "--namespace", SPACE, "--selector", f"atoll.dev/job={job},atoll.dev/role=worker", "--output", "name")
    delete(SPACE, pods.split()[0].removeprefix("pod/"))
    return after_deletion(log, LOSS_TAKES, lambda event: what(event) == "gnnjobs/status" and event["objectRef"].get("name") == job)


def delete(space, pod, *words):
    kubectl("delete", "pod", pod, "--namespace", space, "--wait=false", *words)


def after_deletion(log, seconds, is_meant):
    """From when kubectl's deletion came to when the first write that is meant came after it."""
    deadline, events = time.monotonic() + seconds, []
    while time.monotonic() < deadline:
        time.sleep(0.2)
        events += log.news()
    return first_after_deletion(events, is_meant)


def first_after_deletion(events, is_meant):
    gone = [moment(event, "requestReceivedTimestamp") for event in events if who(event) == "kubectl" and event["verb"] == "delete"]
    if not gone:
        raise BedError("the audit log says nothing of what was deleted")
    writes = [moment(event, "requestReceivedTimestamp") for event in events
              if who(event) == Atoll.agent and event["responseStatus"]["code"] < 300 and is_meant(event)]
    return min((when - gone[0] for when in writes if when >= gone[0]), default=None)
