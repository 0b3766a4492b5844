"""Control groups of the tests' own, in every hierarchy (cgroup v1) or in the one there is (v2). Whatever is started for a
machine is born in such a group, so these groups know every process of it, also after a crash."""
import contextlib
import os
import pathlib
import time

from process import MachineError, kill, name_of

MOUNT = pathlib.Path("/sys/fs/cgroup")
PATIENCE = 5  # seconds for keepers to end by themselves
IS_V2 = (MOUNT / "cgroup.controllers").exists()


class Groups:
    """The groups below MOUNT/root, with every controller or only with those named."""

    def __init__(self, root, *controllers):
        self.root, self.controllers = root, controllers

    def create(self, group):
        """Makes root/group, with the controllers passed down to it."""
        for hierarchy in self._hierarchies():
            path = hierarchy
            for part in pathlib.PurePath(self.root, group).parts:
                path = path / part
                path.mkdir(parents=True, exist_ok=True)
                self._inherit(path)

    def join(self, group):
        """Moves the calling process there."""
        for path in self.paths(group):
            (path / "cgroup.procs").write_text("0")

    def paths(self, group=""):
        """Where the group is: a folder in each hierarchy."""
        return [hierarchy / self.root / group for hierarchy in self._hierarchies()]

    def processes(self, group=""):
        """Pids in the group and below. Each is in every hierarchy, so that the union misses none that is being moved."""
        found = set()
        for path in self.paths(group):
            for folder, _, _ in os.walk(path):
                with contextlib.suppress(OSError):  # the group went away meanwhile
                    found |= {int(pid) for pid in pathlib.Path(folder, "cgroup.procs").read_text().split()}
        return found - {0}  # 0: a process of another pid namespace than ours

    def remove(self, group="", seconds=30):
        """Kills what is in the group and takes it away; it stays busy until its last process is reaped."""
        began = time.monotonic()
        while True:
            # Who keeps a machine or a daemon ends by itself, having reaped it; killed as well, both would
            # stay as corpses until this machine's process 1 cares for them, and namespaces with them.
            keeps = set() if time.monotonic() > began + PATIENCE else {"unshare", "nsenter"}
            kill(pid for pid in self.processes(group) if name_of(pid) not in keeps)
            left = [path for path in self.paths(group) if not _remove_tree(path)]
            if not left:
                return self._remove_root()
            if time.monotonic() > began + seconds:
                raise MachineError(f"waited {seconds} s for control groups to empty: {', '.join(map(str, left))} "
                                   f"still hold processes {sorted(self.processes(group))}")
            time.sleep(0.05)

    def _remove_root(self):
        """Where nothing else is in it."""
        for path in self.paths():
            with contextlib.suppress(OSError):
                path.rmdir()

    def _hierarchies(self):
        if IS_V2:
            return [MOUNT]
        mounted = [path for path in sorted(MOUNT.iterdir()) if not path.is_symlink() and (path / "cgroup.procs").exists()]
        return [path for path in mounted if not self.controllers or set(path.name.split(",")) & set(self.controllers)]

    def _inherit(self, path):
        """A group takes processes only once it has cpus and memory nodes (v1), or its parent names controllers (v2)."""
        for name in ("cpuset.cpus", "cpuset.mems"):
            file = path / name
            if not IS_V2 and file.exists() and not file.read_text().strip():
                file.write_text((path.parent / name).read_text())
        if IS_V2:
            names = self.controllers or (path.parent / "cgroup.controllers").read_text().split()
            (path.parent / "cgroup.subtree_control").write_text(" ".join("+" + name for name in names))


def _remove_tree(top):
    """Whether it is gone."""
    for folder, _, _ in os.walk(top, topdown=False):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return False
    return True
