"""A burst of jobs among nodes that are full of others' pods (B1), and the operator in a cluster of thousands of nodes (B4). Its program
comes first where processors are short: what is asked is how long a decision takes, not who else wants these two cores."""
from burst import Shape, watch
from contestants import Atoll
from crowd import LEVELS, bed, figure, running
from preload import Cluster, even

ROOM = {"cpu": "4", "memory": "32Gi", "nvidia.com/gpu": "1"}
WEIGHT = 28  # as much as a niceness of -15 gives


def burst_among_others(nodes, each, gangs, limit):
    """`each`: others' pods on a node."""
    shape = Shape(gangs, 8, ROOM)
    atoll = Atoll(LEVELS, WEIGHT)
    with bed(Cluster(nodes, even(each)), {shape.space: shape.workers}), running(atoll) as program:
        cell = watch(atoll, shape, program, limit)
        waited = program.waited_seconds()
    return cell | {"figures": [
        figure("from event to decision without waits for a processor, p99", p99(cell, "in work"), 100, "ms"),
        figure("from event to decision, p99", p99(cell, "decided"), None, "ms"),
        figure("from event to decision being written, p99", p99(cell, "decision"), None, "ms"),
        figure("processor time to place one gang, p99", p99(cell, "plan cpu"), None, "ms"),
        figure("to place one gang, p99", p99(cell, "plan"), None, "ms"),
        figure("the threads that decide waited for a processor, in all", waited["look"], None, "s"),
        figure("the threads that write waited for a processor, in all", waited["write"], None, "s"),
        figure("processor time", cell["cpu seconds"], 20, "s"),
        figure("requests a job", cell["requests per gang"], 18)]}


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
