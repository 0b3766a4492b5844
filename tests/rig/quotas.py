"""The share of the cores that each rank of a rig may use: a control group for each, so that a rank which waits lends its
cores to nobody and waiting is never free.

A rank is in its group from its first instruction: mpirun starts each by a program of ours that enters the group and then
becomes the rank (a watcher outside would find it only after it had computed). The program that was given to the rig
has a group with the quota of one server's ranks, so that it sees as many cores as a server has; daemons are in one
without a quota, and sleep.

What a period's quota leaves is added to the next one's (burst). Without that, a rank that always computes gets 0.45 of its half core:
what a core has set aside for it, and didn't use, is lost at the end of each period.

A rank whose share is whole cores has these to itself. Its threads then take turns within 0.1 ms, where a quota over all
cores would let the one that computes use up the share of the one that communicates, for milliseconds."""
import os

from groups import IS_V2, Groups
from process import birth

ROOT = "atoll-rig"
COMMAND, MACHINES = "command", "machines"
PERIOD = 5000  # microseconds: a rank that has used up its share goes on soon
GROUPS = Groups(ROOT, "cpu")
START = """#!/bin/sh
case $ATOLL_RIG_SERVER/$OMPI_COMM_WORLD_LOCAL_RANK in
{cases}*)
  echo "rig: $ATOLL_RIG_SERVER has room for {ranks} ranks, not for $OMPI_COMM_WORLD_LOCAL_SIZE: use fewer, or --ranks-per-server" >&2
  exit 1 ;;
esac
echo 0 >"$group/cgroup.procs"
exec taskset --cpu-list "$cores" "$@"
"""


def own_name():
    """Of this process's rig: leftovers.py sees by it whether the process lives."""
    return f"{os.getpid()}-{birth('self')}"


def create(rig, layout):
    """Makes the groups of the rig with this name."""
    _create(f"{rig}/{MACHINES}")
    _create(f"{rig}/{COMMAND}", cores_of_a_server(layout))
    for server in layout.names:
        for rank in range(layout.ranks_per_server):
            _create(f"{rig}/{server}/{rank}", layout.cpu_per_rank)


def _create(group, cores=None):
    GROUPS.create(group)
    for path in GROUPS.paths(group) if cores else []:
        quota = round(cores * PERIOD)
        if IS_V2:
            (path / "cpu.max").write_text(f"{quota} {PERIOD}")
            (path / "cpu.max.burst").write_text(str(quota))
        else:
            (path / "cpu.cfs_period_us").write_text(str(PERIOD))
            (path / "cpu.cfs_quota_us").write_text(str(quota))
            (path / "cpu.cfs_burst_us").write_text(str(quota))


def write_starter(path, rig, layout):
    """The program that mpirun starts a rank by, with the rank's own command behind it."""
    places = [f"{server}/{rank}" for server in layout.names for rank in range(layout.ranks_per_server)]
    cases = "".join(f'{place}) cores={",".join(map(str, cores))}; group="{_path(rig)}/{place}" ;;\n'
                    for place, cores in zip(places, cores_of_ranks(layout, sorted(os.sched_getaffinity(0)))))
    path.write_text(START.format(cases=cases, ranks=layout.ranks_per_server))
    path.chmod(0o755)
    return path


def cores_of_a_server(layout):
    """Divided among its ranks, as `atoll run` does, these are as many threads as a rank's share has whole cores."""
    share = layout.cpu_per_rank
    return (int(share) if share > 1 else share) * layout.ranks_per_server


def cores_of_ranks(layout, cores):
    """For each rank those of `cores` that it may run on: its own where they can be shared out whole, all of them else."""
    each = int(layout.cpu_per_rank)
    if each != layout.cpu_per_rank or each * layout.ranks > len(cores):
        return [cores] * layout.ranks
    return [cores[rank * each:(rank + 1) * each] for rank in range(layout.ranks)]


def entering(rig, group):
    """Words of a shell that move it there."""
    return f'echo 0 >"{_path(rig)}/{group}/cgroup.procs"'


def _path(rig):
    [path] = GROUPS.paths(rig)
    return path


def rigs():
    """The names of all that have groups."""
    return sorted({path.name for top in GROUPS.paths() if top.exists() for path in top.iterdir() if path.is_dir()})


def join(rig, group):
    """Moves the calling process there."""
    GROUPS.join(os.path.join(rig, group))
