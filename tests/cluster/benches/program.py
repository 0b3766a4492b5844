"""A program under measurement: of this machine, in the control plane's network, its processor time and memory as the kernel
counts them."""
import collections
import contextlib
import os
import pathlib
import subprocess
import tempfile

import cgroup
from control_plane import CP, DAEMONS, inside
from place import BedError
from process import children, recall

TICKS = os.sysconf("SC_CLK_TCK")
MEASURED = "measured"  # a control group beside the machines'


class Program:
    def __init__(self, log, *words, given="", weight=None):
        """`given`: what it reads. `weight`: how much more of the processors it gets than the control plane, where both want
        them; None: as any program."""
        self._weighed = weight is not None
        if self._weighed:
            cgroup.create(MEASURED)
            cgroup.weigh(MEASURED, weight)
        command, environment = inside([str(word) for word in words])
        self._log = pathlib.Path(log)
        with open(self._log, "wb") as out, tempfile.TemporaryFile() as read:
            read.write(given.encode())
            read.seek(0)
            self._process = subprocess.Popen(command, env=environment, stdin=read, stdout=out, stderr=out,
                                             preexec_fn=(lambda: cgroup.join(MEASURED)) if self._weighed else None)

    def check(self):
        if self._process.poll() is not None:
            raise BedError(f"{self._process.args} ended with {self._process.returncode}: {self.log()}")

    def log(self):
        return self._log.read_text(errors="replace")[-3000:]

    def cpu_seconds(self):
        return cpu_seconds(self._process.pid)

    def waited_seconds(self):
        """For a processor: {name of threads: seconds}, of those that it has now."""
        return waited_seconds(self._process.pid)

    def peak_mib(self):
        lines = pathlib.Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

    def end(self):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._weighed:
            cgroup.remove(MEASURED)


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def waited_seconds(pid):
    """The second number of schedstat: nanoseconds on a run queue. A thread that ends meanwhile isn't counted."""
    found = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found[(task / "comm").read_text().strip()] += int((task / "schedstat").read_text().split()[1]) / 1e9
    return found


def of_control_plane():
    """Processor seconds so far, by daemon."""
    found = {}
    for daemon in (*DAEMONS, "kwok"):
        entered = recall(CP.folder / "pids" / daemon)
        found[daemon] = sum(cpu_seconds(pid) for pid in children(entered)) if entered else 0
    return found
