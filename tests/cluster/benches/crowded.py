"""A burst of jobs among nodes that are full of others' pods (B1), and the operator in a cluster of thousands of nodes (B4). Its program
comes first where processors are short: what is asked is how long a decision takes, not who else wants these two cores. What it heard
in the burst is told again afterwards, to an operator of the same kind, when there is no control plane any more."""
import contextlib
import json
import pathlib
import sys
import tempfile

from burst import Shape, watch
from contestants import Atoll
from control_plane import KUBECONFIG
from crowd import LEVELS, bed, figure, running
from place import HERE
from preload import Cluster, even
from process import run, until
from program import Program

ROOM = {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"}
WEIGHT = 28  # as much as a niceness of -15 gives
PROXY = 9402  # of kubectl, in the control plane's network


def burst_among_others(nodes, each, gangs, limit):
    """`each`: others' pods on a node."""
    shape = Shape(gangs, 8, ROOM)
    atoll = Atoll(LEVELS, WEIGHT)
    with tempfile.TemporaryDirectory(prefix="atoll-record.") as folder:
        recording = pathlib.Path(folder) / "burst.jsonl.gz"
        with bed(Cluster(nodes, even(each)), {shape.space: shape.workers}), running(atoll) as program, recorded(recording):
            cell = watch(atoll, shape, program, limit)
            waited = program.waited_seconds()
        rate = pace(cell, gangs, limit)
        again = json.loads(run([HERE / "replay", recording, f"--rate={rate}", "--limit=240"], 600))
    return cell | {"replayed": {name: value for name, value in again.items() if name != "places"}, "figures": [
        figure("from event to decision without waits for a processor, p99", p99(cell, "in work"), 100, "ms"),
        figure("from event to decision, p99", p99(cell, "decided"), None, "ms"),
        figure("from event to decision being written, p99", p99(cell, "decision"), None, "ms"),
        figure("processor time to place one gang, p99", p99(cell, "plan cpu"), None, "ms"),
        figure("to place one gang, p99", p99(cell, "plan"), None, "ms"),
        figure("the threads that decide waited for a processor, in all", waited["look"], None, "s"),
        figure("the threads that write waited for a processor, in all", waited["write"], None, "s"),
        figure("processor time", cell["cpu seconds"], 20, "s"),
        figure("requests a job", cell["requests per gang"], 18),
        figure("told again: from event to decision without waits for a processor, p99", p99(again, "without waits for a processor"), 30,
               "ms"),
        figure("told again: from event to decision, p99", p99(again, "event to decision"), None, "ms"),
        figure("told again: processor time", again["cpu seconds"], None, "s"),
        figure("told again: jobs that have places", sum(isinstance(nodes, list) for nodes in again["places"].values()))]}


@contextlib.contextmanager
def recorded(file):
    """What happens meanwhile to nodes, jobs and others' pods goes into the file."""
    proxy = Program(f"{file}.proxy", "kubectl", "--kubeconfig", KUBECONFIG, "proxy", f"--port={PROXY}")
    try:
        until("kubectl proxy to serve", 30, lambda: proxy.check() or "Starting to serve" in proxy.log())
        recorder = Program(f"{file}.log", sys.executable, HERE / "record", f"http://127.0.0.1:{PROXY}", file)
        try:
            until("the recorder to know the cluster", 120, lambda: recorder.check() or "all is listed" in recorder.log())
            yield
        finally:
            recorder.end()
    finally:
        proxy.end()


def pace(cell, gangs, limit):
    """Requests a second, as the API server answered the operator's until all jobs were seen to run."""
    seconds = max(cell["times"].values()) if cell["whole"] else limit
    return round(cell["requests per gang"] * gangs / seconds, 1)


def many_nodes(nodes, each, gangs, limit):
    shape = Shape(gangs, 8, ROOM)
    atoll = Atoll(LEVELS, WEIGHT)
    with bed(Cluster(nodes, even(each)), {shape.space: shape.workers}), running(atoll) as program:
        listed = program.peak_mib()
        cell = watch(atoll, shape, program, limit)
    return cell | {"figures": [
        figure("until the first lists are there", atoll.list_seconds, 60, "s"),
        figure("memory then", listed, None, "MiB"),
        figure("memory at most", cell["peak MiB"], 300, "MiB"),
        figure("processor time to place one gang, p99", p99(cell, "plan cpu"), 30, "ms"),
        figure("to place one gang, p99", p99(cell, "plan"), None, "ms")]}


def p99(cell, name):
    """Milliseconds."""
    quantile = cell["quantiles"][name][1]
    return None if quantile is None else 1000 * quantile
