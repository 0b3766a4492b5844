"""A machine of the bed: process 1 with namespaces of its own for network, mounts, processes and host name. It
sees this machine's programs, but an empty /run, and its own /var/lib and /var/log, so that kubelet and
containerd keep their usual paths. When its process 1 dies everything in it dies: processes, mounts, links;
that is how a bed leaves nothing behind, and how a test pulls a machine's plug."""
import os
import shlex
import signal
import subprocess

import build
import cgroup
from place import CACHE, FOLDER, BedError
from process import birth, children, kill, name_of, recall, remember, run, until

SHARED = FOLDER / "shared"  # every machine has it on /mnt, as nodes have a file server
LOCAL = FOLDER / "local"    # on /usr/local, for the cache's programs to be mounted into
PROGRAMS = "/usr/local/programs"  # the cache's, in a folder for each module


def program(name):
    """Where machines have a program of the cache's."""
    return f"{PROGRAMS}/{build.folder_of(build.modules()[name]).name}/{name}"


PATH = ":".join([*(f"{PROGRAMS}/{build.folder_of(module).name}" for module in build.OF_A_BED),
                 f"{PROGRAMS}/{build.folder_of_ours().name}", "/usr/sbin", "/usr/bin", "/sbin", "/bin"])


class Machine:
    def __init__(self, name):
        self.name = name
        self.folder = FOLDER / name
        self.group = f"{name}/system"

    @property
    def lib(self):
        """What it sees as /var/lib; our own configuration goes to lib/bed."""
        return self.folder / "lib"

    @property
    def bed(self):
        """What it sees as /var/lib/bed."""
        return self.lib / "bed"

    def log(self, daemon):
        return self.folder / "log" / f"{daemon}.log"

    def init(self):
        """Pid of its process 1 as seen from here; None when it is off."""
        keeper = recall(self.folder / "pids" / "init")
        return next(iter(children(keeper)), None) if keeper else None

    def boot(self):
        """Switches it on, unless it is. Whatever ran in it before is gone, what it has on disk is kept."""
        if self.init():
            return
        for folder in (self.bed, self.folder / "log", SHARED, LOCAL / "programs"):
            folder.mkdir(parents=True, exist_ok=True)
        cgroup.remove(self.name)
        cgroup.create(self.group)
        command = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc",
                   "--", build.folder_of_ours() / "own_root", "sh", "-euc", self._boot_script()]
        keeper = self._spawn(command, "init")
        until(f"machine {self.name} to boot", 10, lambda: self._has_booted() or birth(keeper) is None,
              self.log("init"))
        if not self.init():
            raise BedError(f"machine {self.name} did not boot: {self.log('init').read_text()[-1000:]}")

    def _has_booted(self):
        """The boot script ends in becoming `pause`."""
        init = self.init()
        return init and name_of(init) == "pause"

    def _boot_script(self):
        binds = [(SHARED, "/mnt"), (self.folder / "log", "/var/log"), (LOCAL, "/usr/local"),
                 (CACHE / "bin", PROGRAMS),
                 (self.lib, "/var/lib")]  # last: it may hide the bed's own folder, where the others come from
        lines = [f"mount --bind {shlex.quote(str(source))} {target}" for source, target in binds]
        return "\n".join([*lines, "mount -t tmpfs tmpfs /run", f"hostname {self.name}", "ip link set lo up",
                          "exec pause"])

    def power_off(self):
        """Pulls the plug: nothing in it gets to say goodbye."""
        cgroup.remove(self.name)

    def enter(self, command):
        """The command line that runs `command` inside."""
        return self._enter("--net", "--mount", "--pid", "--uts", "--", *command)

    def enter_network(self, command):
        """The same with nothing but the network of this machine: files and programs are those of the caller."""
        return self._enter("--net", "--", *command)

    def _enter(self, *words):
        init = self.init()
        if not init:
            raise BedError(f"machine {self.name} is off: tests/cluster/bed up")
        return ["nsenter", "--target", str(init), *map(str, words)]

    def run(self, *command, seconds=60, **options):
        return run(self.enter(command), seconds, env=self.environment(), **options)

    @staticmethod
    def environment():
        return {"PATH": PATH, "HOME": "/root"}

    def start(self, daemon, command):
        """Starts a daemon in it, unless it runs."""
        if not self.runs(daemon):
            self._spawn(self.enter(command), daemon)

    def runs(self, daemon):
        return recall(self.folder / "pids" / daemon) is not None

    def kill(self, daemon, number=signal.SIGKILL):
        """Signals a daemon, and waits for its end where that is what the signal means."""
        entered = recall(self.folder / "pids" / daemon)
        kill(children(entered) if entered else [], number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            until(f"{daemon} of {self.name} to end", 20, lambda: not self.runs(daemon), self.log(daemon))

    def check(self, daemon):
        """Complains, with the end of its log, when a daemon that should run has ended."""
        if not self.runs(daemon):
            tail = self.log(daemon).read_text(errors="replace")[-1500:]
            raise BedError(f"{daemon} of {self.name} ended; the end of {self.log(daemon)} says\n{tail}")

    def _spawn(self, command, name):
        (self.folder / "log").mkdir(parents=True, exist_ok=True)

        def before_exec():  # in the new process, so that one that lives is always in its group and noted
            cgroup.join(self.group)
            remember(self.folder / "pids" / name, os.getpid())

        with open(self.log(name), "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                       env=self.environment(), start_new_session=True, preexec_fn=before_exec)
        process.returncode = 0  # it outlives us: nobody waits for it
        return process.pid
