"""Who is measured: gangs of pods by nobody's operator (the bed's floor), by Atoll's, by Kubeflow's mpi-operator. All pods ask for
the same room and mount the same claim; a gang is its workers and a launcher."""
import time

import build
import histogram
from control_plane import inside, kubectl
from mpi_operator import MODULE, NAME, RESOURCE
from place import REPOSITORY
from process import run, until
from program import Program
from stage import ATOLL

CLAIM = "datasets"
IMAGE = "atoll/engine:bench"  # nobody runs it
SYSTEM = "atoll-system"
METRICS = "127.0.0.1:9401"
FAKE = {"nodeSelector": {"type": "kwok"}, "tolerations": [{"key": "type", "value": "kwok", "effect": "NoSchedule"}]}


def spec_of_pod(room):
    """`room`: of a worker; None: of a launcher."""
    requests = {"limits": room, "requests": room} if room else {"requests": {"cpu": "100m", "memory": "128Mi"}}
    container = {"name": "main", "image": IMAGE, "resources": requests,
                 "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    return {**FAKE, "containers": [container],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": CLAIM}}]}


class Pods:
    """Plain pods: what the bed itself takes."""
    title, agent, resource = "plain pods", None, "pods"

    def start(self, folder):
        return None

    def wishes(self, shape):
        for gang in range(shape.gangs):
            names = [f"gang-{gang:03}-{worker}" for worker in range(shape.workers)]
            yield from (self._wish(shape, name, shape.room) for name in names)
            yield self._wish(shape, f"gang-{gang:03}-launcher", None)

    @staticmethod
    def _wish(shape, name, room):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec_of_pod(room)}
        return {"path": f"/api/v1/namespaces/{shape.space}/pods", "object": pod}

    def told(self, shape):
        return True

    def figures(self, trail):
        return {"created": trail.last.get(("submit", "create", "pods"))}


class Atoll:
    title, agent, resource = "atoll", "atoll-operator", "gnnjobs"

    def __init__(self, levels=(), weight=None):
        """`levels`: topologyLevels of the jobs; none: the default. `weight`: Program's."""
        self._levels, self._weight = list(levels), weight
        self.list_seconds = None  # from its start until its first lists were there

    def start(self, folder):
        establish("gnnjobs.atoll.dev", REPOSITORY / "manifests/crd/gnnjobs.atoll.dev.yaml")
        kubectl("create", "namespace", SYSTEM)
        begin = time.monotonic()
        program = Program(folder / "atoll-operator.log", ATOLL.with_name("atoll-operator"), f"--image={IMAGE}",
                          f"--operator-namespace={SYSTEM}", f"--metrics={METRICS}", weight=self._weight)
        try:
            until("atoll-operator to know the cluster", 240, lambda: program.check() or "all caches are filled" in program.log())
            self.list_seconds = time.monotonic() - begin
            until("atoll-operator to work", 60, lambda: program.check() or "workers begin" in program.log())
        except BaseException:
            program.end()
            raise
        return program

    def wishes(self, shape):
        gpus = min(int(shape.room["nvidia.com/gpu"]), 1)  # a rank has no more
        requests = {"cpu": shape.room["cpu"], "memory": shape.room["memory"], "nvidia.com/gpu": gpus}
        claim = {"persistentVolumeClaim": {"claimName": CLAIM}}
        placement = {"ranks": shape.workers, "ranksPerServer": 1} | ({"topologyLevels": self._levels} if self._levels else {})
        for gang in range(shape.gangs):
            job = {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": f"gang-{gang:03}"}, "spec": {
                "dataset": {"name": "cora", "volume": claim}, "model": {"kind": "gcn", "layers": 2, "hidden": 16},
                "training": {"epochs": 200}, "strategy": {"kind": "graph"},
                "placement": placement, "resources": requests,
                "template": {"spec": FAKE}}}
            yield {"path": f"/apis/atoll.dev/v1alpha1/namespaces/{shape.space}/gnnjobs", "object": job}

    def told(self, shape):
        return count_true("gnnjobs", shape.space, "Running") == shape.gangs

    def figures(self, trail):
        found = histogram.read(metrics())
        times = {"decided": "atoll_job_decided_seconds", "in work": "atoll_job_decided_in_work_seconds",
                 "decision": "atoll_job_decision_seconds", "plan": "atoll_job_plan_seconds", "plan cpu": "atoll_job_plan_cpu_seconds",
                 "queue": "workqueue_queue_duration_seconds"}
        quantiles = {name: [histogram.quantile(found[family], share) for share in (0.5, 0.99)]
                     for name, family in times.items()}
        created = trail.last.get((self.agent, "create", "pods"), 0)
        return {"created": created, "quantiles": quantiles,
                "ungated": max(created, trail.last.get((self.agent, "patch", "pods"), 0))}  # most are made without a gate


def metrics():
    """The operator's, in Prometheus' text format."""
    command, environment = inside(["curl", "--silent", "--fail", f"http://{METRICS}/metrics"])
    return run(command, env=environment)


class MpiOperator:
    agent, resource = NAME, "mpijobs"

    def __init__(self, title, *flags):
        self.title, self._flags = title, flags

    def start(self, folder):
        build.build([NAME])
        establish("mpijobs.kubeflow.org", build.sources(NAME, MODULE) / RESOURCE)
        program = Program(folder / f"{NAME}.log", build.program(NAME), "--lock-namespace=default", *self._flags)
        until("mpi-operator to lead", 60, lambda: program.check() or kubectl(
            "get", "lease", NAME, "--ignore-not-found", "--output", "jsonpath={.spec.holderIdentity}"))
        return program

    def wishes(self, shape):
        for gang in range(shape.gangs):
            replicas = {"Launcher": {"replicas": 1, "template": {"spec": spec_of_pod(None)}},
                        "Worker": {"replicas": shape.workers, "template": {"spec": spec_of_pod(shape.room)}}}
            job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": f"gang-{gang:03}"},
                   "spec": {"slotsPerWorker": 1, "mpiReplicaSpecs": replicas}}
            yield {"path": f"/apis/kubeflow.org/v2beta1/namespaces/{shape.space}/mpijobs", "object": job}

    def told(self, shape):
        return count_true("mpijobs", shape.space, "Running") == shape.gangs

    def figures(self, trail):
        return {"created": trail.last.get((self.agent, "create", "pods"))}


def establish(kind, file):
    """Until the API server serves it: `kubectl wait` fails where a new kind has no conditions yet."""
    kubectl("apply", "--server-side", "--filename", file)
    group = kind.split(".", 1)[1]
    until(f"{kind} to be served", 30, lambda: kind in kubectl("api-resources", "--api-group", group, "--output", "name"))


def count_true(resource, space, condition):
    found = kubectl("get", resource, "--namespace", space, "--output",
                    f'jsonpath={{.items[*].status.conditions[?(@.type=="{condition}")].status}}', seconds=120)
    return found.split().count("True")
