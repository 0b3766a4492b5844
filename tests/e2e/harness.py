"""What the end-to-end tests share: a folder for each test with a data root and results, manifests as Python
dictionaries, runs of build/atoll with a time-out, and the lines of JSON that they print."""
import atexit
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATOLL = os.path.abspath(os.environ.get("ATOLL", ROOT / "build" / "atoll"))
CORA = ROOT / "tests" / "data" / "cora"
if not os.access(ATOLL, os.X_OK):
    raise SystemExit(f"{ATOLL} is not built")

# Small enough for seconds, large enough for two ranks to have halos.
SMALL = {
    "apiVersion": "atoll.dev/v1alpha1",
    "kind": "GNNJob",
    "metadata": {"name": "small"},
    "spec": {
        "dataset": {"synthetic": {"kind": "community", "vertices": 3000, "averageDegree": 10, "features": 32,
                                  "classes": 5, "homophily": 0.7, "seed": 1}},
        "model": {"kind": "gcn", "layers": 2, "hidden": 16},
        "training": {"epochs": 20, "optimizer": {"kind": "adam", "learningRate": 0.01}, "dropout": 0.5, "seed": 1,
                     "checkpoint": {"every": 5, "keep": 2}},
        "strategy": {"kind": "graph"},
        "placement": {"ranks": 2},
        "output": {"path": "small"},
    },
}


class Failed(Exception):
    """What a test expected did not hold."""


def expect(holds, what):
    if not holds:
        raise Failed(what)


def changed(spec, changes):
    """A copy with changes by dotted path: {"training.epochs": 5}; None removes a field."""
    made = copy.deepcopy(spec)
    for path, value in changes.items():
        *parents, last = path.split(".")
        node = made
        for name in parents:
            node = node.setdefault(name, {})
        if value is None:
            node.pop(last, None)
        else:
            node[last] = value
    return made


def manifest(changes=None, base=SMALL):
    """A copy of `base` with changes below spec."""
    return {**copy.deepcopy(base), "spec": changed(base["spec"], changes or {})}


def examples():
    """The manifests of manifests/examples; its datasets.yaml is a chart's values."""
    return [path for path in sorted((ROOT / "manifests/examples").glob("*.yaml")) if path.stem != "datasets"]


class Done:
    """A finished command: exit status, what it wrote, and its JSON lines."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def events(self, kind):
        lines = [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == kind]

    def losses(self):
        return [event["loss"] for event in self.events("epoch")]

    def result(self):
        expect(self.events("result"), f"a result line in:\n{self.out}\n{self.err}")
        return self.events("result")[-1]


class Place:
    """A temporary folder to run in, removed when the test ends. atoll's working folder, data and runs."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="atoll-e2e."))
        self.data = self.folder / "datasets"
        self.results = self.folder / "runs"
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, made, name="job.yaml"):
        """Stores a manifest (JSON is YAML) or text and returns its path."""
        path = self.folder / name
        path.write_text(made if isinstance(made, str) else json.dumps(made, indent=1))
        return path

    def start(self, *arguments, **options):
        """Starts atoll in a process group of its own."""
        process = subprocess.Popen([ATOLL, *map(str, arguments)], cwd=self.folder, text=True, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        atexit.register(end, process)
        return process

    def atoll(self, *arguments, timeout=120, **options):
        """Runs atoll to its end."""
        return finish(self.start(*arguments, **options), timeout)

    def train(self, made, *arguments, timeout=120):
        """Runs a manifest with --json."""
        return self.atoll("run", "-f", self.write(made), "--json", *arguments, timeout=timeout)

    def trained(self, made, *arguments, timeout=120):
        """Runs a manifest that must succeed."""
        done = self.train(made, *arguments, timeout=timeout)
        expect(done.status == 0, f"exit status 0, not {done.status}:\n{done.err}")
        return done

    def import_cora(self):
        if not (self.data / "cora").exists():
            done = self.atoll("dataset", "import", "--format", "npy", CORA, self.data / "cora")
            expect(done.status == 0, f"an imported cora:\n{done.err}")

    def output(self, made):
        return self.results / made["spec"]["output"]["path"]


def end(process):
    """Ends what a test that failed half-way has left running: ranks end with atoll."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def finish(process, timeout):
    """Waits for a started atoll; a hang is a failure, and takes its whole process group with it."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Failed(f"still running after {timeout} s:\n{out}\n{err}") from None
    return Done(process.returncode, out, err)


def expect_words(done, pattern):
    """The message must match, and be one for a user: no abort, no trace of the code."""
    expect(re.search(pattern, done.err), f"a message that matches {pattern!r}:\n{done.err}")
    expect(not re.search(r"terminate called|Segmentation|core dumped|Assertion", done.err), f"no crash:\n{done.err}")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def main(*tests):
    """Runs the tests given, in order; names on the command line choose some of them."""
    chosen = [test for test in tests if len(sys.argv) == 1 or test.__name__ in sys.argv[1:]]
    failed = 0
    for test in chosen:
        try:
            test()
            print(f"ok: {test.__name__}", flush=True)
        except Failed as failure:
            failed += 1
            print(f"FAILED: {test.__name__}: expected {failure}", flush=True)
    sys.exit(1 if failed else 0)
