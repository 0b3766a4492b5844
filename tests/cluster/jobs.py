"""GNNJobs as a user handles them: applied, waited for, looked at, deleted."""
import json
import shutil

from control_plane import kubectl
from harness import changed
from place import BedError
from process import until
from stage import SHARED, SPACE, operator_log

CORA = {"dataset": {"name": "cora", "split": "default", "normaliseFeatures": "row"},
        "model": {"kind": "gcn", "layers": 2, "hidden": 16},
        "training": {"epochs": 60, "optimizer": {"kind": "adam", "learningRate": 0.01,
                                                 "weightDecay": {"firstLayer": 5e-4}},
                     "dropout": 0.5, "seed": 1, "checkpoint": {"every": 10, "keep": 2}}}
# About a minute of two cores, of which every second can be interrupted.
LONG = {"dataset": {"synthetic": {"kind": "community", "vertices": 60000, "averageDegree": 20, "features": 64,
                                  "classes": 10, "seed": 1}},
        "model": {"kind": "sage", "layers": 2, "hidden": 64},
        "training": {"epochs": 400, "optimizer": {"kind": "adam", "learningRate": 0.01}, "dropout": 0.5, "seed": 1,
                     "checkpoint": {"every": 10, "keep": 2}}}
COMMON = {"strategy": {"kind": "graph"},
          "placement": {"ranks": 4, "ranksPerServer": 2, "topologyLevels": ["network.topology.nvidia.com/block",
                                                                           "kubernetes.io/hostname"],
                        "partitioner": {"kind": "metis", "seed": 1}},
          "resources": {"cpu": "400m", "memory": "512Mi"},
          "output": {"volume": {"persistentVolumeClaim": {"claimName": "results"}}}}


# In a worker's pod: a signal for the ranks whose numbers match, not for their witnesses.
SIGNAL = r"""for each in /proc/[0-9]*; do
  grep -qsx atoll $each/comm || continue
  tr '\0' '\n' <$each/environ 2>/dev/null | grep -q '^OMPI_COMM_WORLD_RANK=%s$' && kill -%s ${each#/proc/}
done; true"""


class GnnJob:
    def __init__(self, name, base=None, changes=None):
        self.name = name
        volume = {"dataset.volume": {"persistentVolumeClaim": {"claimName": "datasets"}}}
        self.spec = changed((base or CORA) | COMMON, volume | (changes or {}))

    def manifest(self):
        return {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob",
                "metadata": {"name": self.name, "namespace": SPACE}, "spec": self.spec}

    def apply(self):
        """Beginning with an empty output folder."""
        shutil.rmtree(self.output(), ignore_errors=True)
        return self.apply_again()

    def apply_again(self):
        kubectl("apply", "--filename", "-", input=json.dumps(self.manifest()))
        return self

    def patch(self, **spec):
        ours("patch", "gnn", self.name, "--type=merge", "--patch", json.dumps({"spec": spec}))

    def delete(self, wait=True):
        ours("delete", "gnn", self.name, "--ignore-not-found", f"--wait={str(wait).lower()}")

    def read(self):
        return json.loads(ours("get", "gnn", self.name, "--output", "json"))

    def status(self):
        return self.read().get("status", {})

    def condition(self, kind):
        return next((each for each in self.status().get("conditions", []) if each["type"] == kind), None)

    def holds(self, kind):
        condition = self.condition(kind)
        return condition is not None and condition["status"] == "True"

    def until(self, kind, seconds=120):
        """Waits for a condition; a job that has failed instead is not waited for."""
        def is_so():
            if kind not in ("Failed", "Restarting") and self.holds("Failed"):
                raise BedError(f"{self.name} failed instead of being {kind}:\n{self.told()}")
            return self.holds(kind)
        self.wait(f"to be {kind}", seconds, is_so)
        return self

    def wait(self, what, seconds, is_so):
        try:
            return until(f"{self.name} {what}", seconds, is_so)
        except BedError as error:
            raise BedError(f"{error}\n{self.told()}") from None

    def until_epoch(self, epoch, seconds=120):
        self.wait(f"to reach epoch {epoch}", seconds, lambda: len(self.losses()) >= epoch)

    def pods(self, role=None):
        label = f"atoll.dev/job={self.name}" + (f",atoll.dev/role={role}" if role else "")
        return json.loads(ours("get", "pods", "--selector", label, "--output", "json"))["items"]

    def worker(self, server):
        """Its present pod."""
        return next(each for each in self.pods("worker") if each["metadata"]["labels"]["atoll.dev/server"] == str(server))

    def signal_ranks(self, server, name, rank="[0-9]*"):
        """Those of a server, or the one of this number alone."""
        ours("exec", self.worker(server)["metadata"]["name"], "--", "bash", "-c", SIGNAL % (rank, name))

    def output(self):
        return SHARED / "results" / self.name

    def losses(self):
        """Of each epoch that was ended, in the order of metrics.jsonl, whose last line may be on its way."""
        file = self.output() / "metrics.jsonl"
        whole = file.read_text().split("\n")[:-1] if file.exists() else []
        return [json.loads(line)["loss"] for line in whole]

    def told(self):
        """What a person would look at when a job doesn't do what it should."""
        return "\n".join([json.dumps(self.status(), indent=1), ours("get", "pods", "--output", "wide"),
                          ours("get", "events", "--sort-by=.lastTimestamp"), operator_log(40)])


def ours(*words, **options):
    return kubectl("--namespace", SPACE, *words, **options)


def delete_all():
    """Of earlier checks that failed."""
    ours("delete", "gnn", "--all", "--wait=true")
    until("pods of deleted jobs to be gone", 120, lambda: not ours("get", "pods", "--output", "name").strip())


def nothing_remains(job, seconds=60):
    """Of a deleted job."""
    kinds = "pods,secrets,configmaps,networkpolicies.networking.k8s.io"
    selector = f"atoll.dev/job={job.name}"
    until(f"all that {job.name} made to be gone", seconds,
          lambda: not ours("get", kinds, "--selector", selector, "--output", "name").strip())
