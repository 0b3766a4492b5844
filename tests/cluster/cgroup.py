"""The bed's control groups: /atoll-bed in every hierarchy (cgroup v1) or in the one there is (v2), below it a
group for each machine with its daemons in `system`; kubelets put their pods beside that. Whatever the bed
starts is born in there, so these groups know every process of a bed, also after a crash."""
import contextlib
import pathlib
import time

from place import BedError
from process import kill, name_of

ROOT = "atoll-bed"
MOUNT = pathlib.Path("/sys/fs/cgroup")
PATIENCE = 5  # seconds for keepers to end by themselves
IS_V2 = (MOUNT / "cgroup.controllers").exists()


def _hierarchies():
    if IS_V2:
        return [MOUNT]
    return [path for path in sorted(MOUNT.iterdir()) if not path.is_symlink() and (path / "cgroup.procs").exists()]


def create(group):
    """Makes ROOT/group, with every controller passed down to it."""
    for hierarchy in _hierarchies():
        path = hierarchy
        for part in pathlib.PurePath(ROOT, group).parts:
            path = path / part
            path.mkdir(exist_ok=True)
            _inherit(path)


def _inherit(path):
    """A group takes processes only once it has cpus and memory nodes (v1), or its parent names controllers (v2)."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        file = path / name
        if not IS_V2 and file.exists() and not file.read_text().strip():
            file.write_text((path.parent / name).read_text())
    if IS_V2:
        controllers = (path.parent / "cgroup.controllers").read_text().split()
        (path.parent / "cgroup.subtree_control").write_text(" ".join("+" + name for name in controllers))


def join(group):
    """Moves the calling process there."""
    for hierarchy in _hierarchies():
        (hierarchy / ROOT / group / "cgroup.procs").write_text("0")


def processes(group=""):
    """Pids in ROOT/group and below. Each is in every hierarchy, so that the union misses none that is being moved."""
    found = set()
    for hierarchy in _hierarchies():
        for file in (hierarchy / ROOT / group).rglob("cgroup.procs"):
            try:
                found |= {int(pid) for pid in file.read_text().split()}
            except OSError:
                pass  # the group went away meanwhile
    return found - {0}  # 0: a process of another pid namespace than ours


def remove(group="", seconds=30):
    """Kills what is in ROOT/group and takes the groups away; a group stays busy until its last process is reaped."""
    began = time.monotonic()
    while True:
        # Who keeps a machine or a daemon ends by itself, having reaped it; killed as well, both would stay as corpses
        # until this machine's process 1 cares for them, and namespaces with them.
        keeps = set() if time.monotonic() > began + PATIENCE else {"unshare", "nsenter"}
        kill(pid for pid in processes(group) if name_of(pid) not in keeps)
        left = [path for hierarchy in _hierarchies() if not _remove_tree(path := hierarchy / ROOT / group)]
        if not left:
            return _remove_root()
        if time.monotonic() > began + seconds:
            raise BedError(f"waited {seconds} s for control groups to empty: {', '.join(map(str, left))} "
                           f"still hold processes {sorted(processes(group))}")
        time.sleep(0.05)


def _remove_root():
    """Where nothing else is in it."""
    for hierarchy in _hierarchies():
        with contextlib.suppress(OSError):
            (hierarchy / ROOT).rmdir()


def _remove_tree(top):
    """Whether it is gone."""
    for path in sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True) + [top]:
        try:
            path.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return False
    return True
