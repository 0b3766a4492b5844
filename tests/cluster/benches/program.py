"""A program under measurement: of this machine, in the control plane's network, its processor time and memory as the kernel
counts them."""
import os
import pathlib
import subprocess
import tempfile

from control_plane import CP, DAEMONS, inside
from place import BedError
from process import children, recall

TICKS = os.sysconf("SC_CLK_TCK")


class Program:
    def __init__(self, log, *words, given=""):
        """`given`: what it reads."""
        command, environment = inside([str(word) for word in words])
        self._log = pathlib.Path(log)
        with open(self._log, "wb") as out, tempfile.TemporaryFile() as read:
            read.write(given.encode())
            read.seek(0)
            self._process = subprocess.Popen(command, env=environment, stdin=read, stdout=out, stderr=out)

    def check(self):
        if self._process.poll() is not None:
            raise BedError(f"{self._process.args} ended with {self._process.returncode}: {self.log()}")

    def log(self):
        return self._log.read_text(errors="replace")[-3000:]

    def cpu_seconds(self):
        return cpu_seconds(self._process.pid)

    def waited_seconds(self):
        """For a processor, by the threads that it has now."""
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


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def waited_seconds(pid):
    """The second number of schedstat: nanoseconds on a run queue."""
    return sum(int(path.read_text().split()[1]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def of_control_plane():
    """Processor seconds so far, by daemon."""
    found = {}
    for daemon in (*DAEMONS, "kwok"):
        entered = recall(CP.folder / "pids" / daemon)
        found[daemon] = sum(cpu_seconds(pid) for pid in children(entered)) if entered else 0
    return found
