"""Runs build/atoll for benchmarks and reads its JSON lines."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "manifests/examples"
PEAK = ("import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)")


class Skipped(Exception):
    """This machine lacks what the cell needs."""


class Failed(Exception):
    """The command went wrong, or took longer than a cell may."""


class Atoll:
    def __init__(self, binary, data, seconds):
        self.binary, self.data, self.seconds = Path(binary).resolve(), data, seconds
        self.cpu_seconds = self.wall_seconds = 0  # of the last command, its children included

    def lines(self, *arguments):
        """The JSON lines that a command prints."""
        command = [str(self.binary), *map(str, arguments)]
        begin = time.monotonic()
        before = os.times()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, errors = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # atoll stops its ranks
            process.communicate()
            raise Failed(f"{' '.join(command)} took longer than {self.seconds:.0f} s") from None
        after = os.times()
        self.wall_seconds = time.monotonic() - begin
        self.cpu_seconds = (after.children_user + after.children_system
                            - before.children_user - before.children_system)
        if process.returncode != 0:
            raise Failed(f"{' '.join(command)} ended with {process.returncode}: {errors.strip()[-500:]}")
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def peak_bytes(self, *arguments):
        """The peak memory of a command, asked of a process that has had no other child."""
        begin = time.monotonic()
        done = subprocess.run([sys.executable, "-c", PEAK, self.binary, *map(str, arguments)], capture_output=True, text=True,
                              timeout=self.seconds)
        self.wall_seconds = time.monotonic() - begin
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        return 1024 * int(done.stdout.splitlines()[-1])

    def on_data(self, command, manifest, *arguments):
        """`command` on a manifest of the examples, on the benchmark's data sets."""
        return self.lines(*command.split(), "-f", EXAMPLES / manifest, "--data-root", self.data, "--json", *arguments)

    def train(self, manifest, *arguments):
        """Trains from the start and returns the result line with each epoch's seconds."""
        output = self.data / "run"
        lines = self.on_data("run", manifest, "--fresh", "--output", output, *arguments)
        result = lines[-1]
        result["epochSeconds"] = [line["epochSeconds"] for line in lines if line["event"] == "epoch"]
        return result

    def dataset(self, name):
        """Folder of a data set of ../shared/data, imported once."""
        place, source = self.data / name, ROOT.parent / "shared/data" / name
        if subprocess.run([self.binary, "dataset", "info", place], capture_output=True).returncode != 0:
            if not source.exists():
                raise Skipped(f"{name} is not at hand ({source})")
            self.lines("dataset", "import", "--format", "npy", "--replace", source, place)  # none, or an older build's
        return place
