"""One measured burst on a bed of its own: a control plane that has seen nothing else, so that whoever is measured finds it as the
others did. All gangs are submitted at once; it ends when all of their pods run, or after a while."""
import contextlib
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import time

import life
import played
import simulated
from contestants import CLAIM
from control_plane import CP, KUBECONFIG, inside, kubectl
from place import BedError
from process import run, until
from program import of_control_plane
from stage import make_volume
from trail import Trail

PATIENCE = 60  # seconds, with statuses that come after their pods
AT_ONCE = 16  # requests of whoever submits
SUBMIT = pathlib.Path(__file__).with_name("submit.py")


@dataclasses.dataclass(frozen=True)
class Shape:
    gangs: int
    workers: int
    room: dict  # of a worker
    space: str = "burst"


def measure(contestant, shape, nodes, limit):
    with bed(shape, nodes), tempfile.TemporaryDirectory(prefix="atoll-burst.") as folder:
        program = contestant.start(pathlib.Path(folder))
        try:
            return watch(contestant, shape, program, limit)
        finally:
            if program:
                program.end()


@contextlib.contextmanager
def bed(shape, nodes):
    try:
        life.up({"nodes": 1, "racks": 1, "node_grace": simulated.GRACE})
        simulated.add(nodes, 16, played.documents({shape.space: shape.workers}))
        kubectl("create", "namespace", shape.space)
        make_volume(CLAIM, shape.space)
        until("pods to be allowed", 30, lambda: "default" in kubectl("get", "serviceaccounts", "--namespace", shape.space))
        yield
    finally:
        life.down()


def watch(contestant, shape, program, limit):
    trail, load, spent = Trail(shape.space), os.getloadavg()[0], of_control_plane()
    submit(contestant.wishes(shape))
    deadline = time.monotonic() + limit
    while trail.running() != (shape.gangs * shape.workers, shape.gangs) and time.monotonic() < deadline:
        if program:
            program.check()
        CP.check("kwok")
        time.sleep(0.5)
        trail.follow()
    is_whole = trail.running() == (shape.gangs * shape.workers, shape.gangs)
    if is_whole:
        trail.told = hear(contestant, shape)
    trail.follow()
    return {"whole": is_whole, "limit": limit, "load": [load, os.getloadavg()[0]],
            "control plane": {name: round(now - spent[name], 1) for name, now in of_control_plane().items()},
            **of_program(contestant, shape, program, trail), **times(contestant, trail)}


def hear(contestant, shape):
    """When every job was seen to say that it runs; None where that takes too long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if contestant.told(shape):
            return time.time()
        time.sleep(1)
    return None


def submit(wishes):
    lines = "".join(json.dumps(wish) + "\n" for wish in wishes)
    command, environment = inside([sys.executable, SUBMIT, KUBECONFIG, AT_ONCE])
    run(command, 300, env=environment, input=lines)


def of_program(contestant, shape, program, trail):
    if not program:
        return {}
    return {"cpu seconds": program.cpu_seconds(), "peak MiB": program.peak_mib(),
            "requests per gang": trail.count(contestant.agent) / shape.gangs,
            "refused": trail.count(contestant.agent, range(400, 600)), "requests": trail.by_kind(contestant.agent)}


def times(contestant, trail):
    """Seconds since the first object was submitted."""
    who, verb = "submit", "create"
    begin = trail.first.get((who, verb, contestant.resource))
    if not begin:
        raise BedError("the audit log says nothing of what was submitted")
    moments = {"submitted": trail.last[who, verb, contestant.resource], "workers run": trail.all_run(False),
               "all run": trail.all_run(True), "all told": trail.told}
    figures = contestant.figures(trail)
    seconds = {name: figures.pop(name) for name in ("created", "ungated") if name in figures}
    workers, launchers = trail.running()
    return {"workers": workers, "launchers": launchers, **figures,
            "times": {name: round(when - begin, 1) for name, when in (moments | seconds).items() if when}}
