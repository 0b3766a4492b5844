"""The launcher's memory as a function of its workers (B7): jobs of 8 to 64 workers whose ranks really train, each worker a pod of the
bed, and a line through what their launchers took. A launcher holds mpirun, and an ssh for each worker as long as the job runs."""
import re
import time

import group_memory
import life
import line
import stage
from crowd import figure
from jobs import GnnJob, delete_all, nothing_remains, ours
from place import BedError

SIZES = (8, 16, 32, 64)
SETTLES = 15             # seconds of training
BEYOND = (256, 1000)     # workers that this machine doesn't hold
SPARE = 0.8              # of the limit: ranks' messages pass through mpirun
MIB = 1 << 20
JOB = {"dataset": {"synthetic": {"kind": "community", "vertices": 6400, "averageDegree": 8, "features": 16, "classes": 4, "seed": 1}},
       "model": {"kind": "gcn", "layers": 2, "hidden": 8},
       "training": {"epochs": 1_000_000, "optimizer": {"kind": "adam", "learningRate": 0.01}, "dropout": 0.0, "seed": 1,
                    "checkpoint": {"every": 1_000_000, "keep": 1}}}


def memory_of_launchers():
    try:
        stage.bring_up(nodes=4)
        stage.install_operator()
        delete_all()
        found = {size: of_job(size) for size in SIZES}
    finally:
        life.down()
    base, each = line.fit([(size, taken["mib"]) for size, taken in found.items()])
    figures = [figure(f"{size} workers", taken["mib"], SPARE * taken["limit"], "MiB") for size, taken in found.items()]
    figures += [figure(f"{size} workers, by the line", base + each * size, SPARE * group_memory.limit_of(size), "MiB") for size in BEYOND]
    return {"launchers": found, "figures": [*figures, figure("the line: without workers", base, None, "MiB"),
                                            figure("the line: for each worker", each, None, "MiB")]}


def of_job(workers):
    job = GnnJob(f"wide-{workers}", JOB, {"placement.ranks": workers, "placement.ranksPerServer": 1, "resources.cpu": "10m",
                                          "resources.memory": "300Mi"})
    job.apply()
    try:
        job.until("Running", 300)
        [launcher] = job.pods("launcher")
        limit = mib_of(launcher["spec"]["containers"][0]["resources"]["limits"]["memory"])
        if limit != group_memory.limit_of(workers):
            raise BedError(f"the launcher of {workers} workers has a limit of {limit} MiB, not {group_memory.limit_of(workers)}")
        taken = 0
        for _ in range(SETTLES):
            taken = max(taken, group_memory.unreclaimable(read(launcher)))
            time.sleep(1)
        if not job.losses():
            raise BedError(f"{job.name} hasn't ended an epoch")
        return {"mib": taken / MIB, "peak MiB": group_memory.peak(read(launcher)) / MIB, "limit": limit}
    finally:
        job.delete()
        nothing_remains(job, 180)


def read(launcher):
    return ours("exec", launcher["metadata"]["name"], "--", "sh", "-c", group_memory.READ)


def mib_of(quantity):
    """Of "512Mi", or of bytes."""
    found = re.fullmatch(r"(\d+)(Mi|Gi|)", quantity)
    return int(found[1]) * {"Mi": MIB, "Gi": MIB << 10, "": 1}[found[2]] / MIB
