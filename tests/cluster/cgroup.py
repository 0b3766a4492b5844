"""The bed's control groups: /atoll-bed, below it a group for each machine with its daemons in `system`; kubelets put their
pods beside that."""
from groups import Groups

ROOT = "atoll-bed"
GROUPS = Groups(ROOT)
create, join, processes, remove = GROUPS.create, GROUPS.join, GROUPS.processes, GROUPS.remove

USUAL = {"cpu.weight": 100, "cpu.shares": 1024}  # in v2, and in v1


def weigh(group, times):
    """Where both want a processor, the group gets `times` as much of it as its neighbour. A niceness would count for nothing:
    the kernel compares it only within a control group, or a session of those that are in none (sched_autogroup_enabled)."""
    for path in GROUPS.paths(group):
        for name, usual in USUAL.items():
            if (path / name).exists():
                (path / name).write_text(str(usual * times))
