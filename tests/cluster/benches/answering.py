"""Jobs whose ranks say each second how far they are (B6): what the operator writes of it, while nothing else happens."""
import pathlib
import sys
import tempfile
import time

import simulated
from burst import Shape, bed, watch
from contestants import Atoll
from control_plane import CP, kubectl
from crowd import figure, running
from crowded import ROOM
from place import BedError
from process import until
from program import Program
from trail import WRITES, Trail

SERVER = pathlib.Path(__file__).with_name("answers.py")
PORT = 9400
SETTLES, WINDOW = 60, 120  # seconds


def jobs_that_answer(nodes, gangs, limit):
    shape, atoll = Shape(gangs, 8, ROOM), Atoll()
    with bed(shape, nodes), tempfile.TemporaryDirectory(prefix="atoll-answers.") as folder:
        answers = serve(pathlib.Path(folder) / "answers.log")
        try:
            with running(atoll) as program:
                cell = watch(atoll, shape, program, limit)
                if not cell["whole"]:
                    raise BedError(f"{cell['launchers']} of {gangs} jobs run after {limit} s")
                time.sleep(SETTLES)
                found = count(shape, program, answers)
        finally:
            answers.end()
    return cell | {"figures": [
        figure("writes to the API server, leases and events among them", found["writes"] / WINDOW, 20, "a second"),
        figure("processor time meanwhile", found["cpu"] / WINDOW, None, "cores"),
        figure("jobs whose status went on meanwhile", found["advanced"])]}


def serve(log):
    """All addresses of pods that kwok plays are the control plane's own."""
    CP.run("ip", "-4", "route", "replace", "local", simulated.PODS, "dev", "lo")
    answers = Program(log, sys.executable, SERVER, PORT)
    until("the answers to be ready", 20, lambda: answers.check() or "ready" in answers.log())
    return answers


def count(shape, program, answers):
    """In WINDOW seconds. All jobs must have been heard: otherwise few writes are no merit."""
    before, trail, spent, begin = epochs(shape.space), Trail(shape.space), program.cpu_seconds(), time.monotonic()
    while time.monotonic() < begin + WINDOW:
        program.check()
        answers.check()
        time.sleep(1)
        trail.follow()
    spent = program.cpu_seconds() - spent
    after = epochs(shape.space)
    advanced = sum(epoch > before.get(job, 0) for job, epoch in after.items())
    if advanced < shape.gangs:
        raise BedError(f"of {shape.gangs} jobs that answer, {advanced} have a status that went on in {WINDOW} s")
    return {"writes": trail.count(Atoll.agent, verbs=WRITES), "cpu": spent, "advanced": advanced}


def epochs(space):
    told = kubectl("get", "gnnjobs", "--namespace", space, "--output",
                   r'jsonpath={range .items[*]}{.metadata.name} {.status.progress.epoch}{"\n"}{end}', seconds=120)
    words = [line.split() for line in told.splitlines()]
    return {name: int(epoch[0]) for name, *epoch in words if epoch}
