"""Gangs that compete: one trains, then the other, and no launcher ever runs beside a partial gang."""
import json
import os
import threading

import life
from control_plane import kubectl
from jobs import CORA, SPACE, GnnJob, nothing_remains, ours
from pods import apply, pod
from stage import SHARED, USER, run_here
from topology import occupy, vacate

# Four servers that fill a node each: there is room for one such gang.
WHOLE_CLUSTER = {"resources.cpu": "750m", "placement.ranks": 8, "training.epochs": 10}


class Watch:
    """Every state that pods of the jobs' namespace went through, as a watch tells it."""

    def __enter__(self):
        self.states = []
        self.process = run_here("kubectl", "get", "pods", "--namespace", SPACE, "--watch", "--output", "json",
                                "--output-watch-events")
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.reader.join(timeout=10)
        self.process.wait(timeout=10)

    def _read(self):
        self.states.extend(map(json.loads, self.process.stdout))  # an event a line

    def launchers_start_with_whole_gangs(self):
        """At each moment at which a launcher's container runs for the first time, all workers of its job are ready."""
        pods, started = {}, set()
        for event in self.states:
            each = event["object"]
            name = each["metadata"]["name"]
            pods[name] = None if event["type"] == "DELETED" else each
            if pods[name] and role(each) == "launcher" and each["status"]["phase"] == "Running" and name not in started:
                started.add(name)
                gang = {other["metadata"]["name"]: is_ready(other) for other in pods.values()
                        if other and role(other) == "worker" and same_job(other, each)}
                assert gang and all(gang.values()), f"{name} runs while its gang's pods are ready: {gang}"
        return started


def role(each):
    return each["metadata"]["labels"].get("atoll.dev/role")


def same_job(one, other):
    return one["metadata"]["labels"]["atoll.dev/job"] == other["metadata"]["labels"]["atoll.dev/job"]


def is_ready(each):
    return any(state["type"] == "Ready" and state["status"] == "True" for state in each["status"].get("conditions", []))


def one_after_the_other(rounds=1):
    for number in range(rounds):
        with Watch() as watch:
            gangs = [GnnJob(f"gang-{number}-{which}", CORA, WHOLE_CLUSTER).apply() for which in ("a", "b")]
            for job in gangs:
                job.until("Succeeded", 180)
        assert len(watch.launchers_start_with_whole_gangs()) == 2, "a launcher for each gang, and one alone"
        runs = sorted((job.status()["startTime"], job.status()["completionTime"]) for job in gangs)
        assert all(not job.status().get("restarts") for job in gangs), "no restart"
        for job in gangs:
            job.delete()
            nothing_remains(job)
        print(f"       round {number + 1}: {runs}", flush=True)


def twenty_times():
    one_after_the_other(20)


def withdraws_when_somebody_takes_the_room():
    """Between the plan and the binding: the scheduler stands still while a foreign pod is put on a planned node."""
    occupied = ("n1", "n2", "n3")  # one node is left, for what prepares the data
    occupy(*occupied)
    try:
        job = GnnJob("robbed", CORA, {"resources.cpu": "900m", "training.epochs": 20}).apply()
        job.wait("to wait for room", 60, lambda: (job.condition("Placed") or {}).get("reason") == "NoRoom")
        life.kill("cp", ["kube-scheduler"])
        vacate(*occupied)
        job.wait("to be released", 60, lambda: [each for each in job.pods("worker") if not each["spec"].get("schedulingGates")])
        robbed = job.status()["placement"]["servers"][0]["node"]
        thief = pod("thief", nodeName=robbed)
        thief["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1500m"}}
        apply(thief)
    finally:
        vacate(*occupied)
        life.up({})
    job.wait("to say who took its room", 90, lambda: "thief" in ours("get", "events"))
    job.until("Succeeded", 180)
    assert robbed not in {each["node"] for each in job.status()["placement"]["servers"]}, "other nodes than the robbed one"
    kubectl("delete", "pod", "thief", "--now")
    job.delete()
    nothing_remains(job)


def waits_for_a_volume():
    """Its output's claim has a class that makes volumes once a pod has a node, and makes none: the user hears what the scheduler says,
    and once there is a volume the job goes on by itself."""
    folder = SHARED / "late"
    folder.mkdir(exist_ok=True)
    os.chown(folder, USER, USER)
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late"}
    apply({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
           "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
          {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "late", "namespace": SPACE},
           "spec": {**common, "resources": {"requests": {"storage": "1Gi"}}}})
    job = GnnJob("unprovided", CORA, {"output.volume.persistentVolumeClaim.claimName": "late"}).apply()
    job.wait("to be withdrawn", 120, lambda: job.status().get("withdrawals"))
    job.wait("to hear the scheduler", 30, lambda: any(
        "unprovided-0-0 was not bound to" in line and "the scheduler says: " in line for line in ours("get", "events").splitlines()))
    apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "late"},
           "spec": {**common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/mnt/late"}}})
    job.until("Succeeded", 240)
    assert job.status()["withdrawals"] == 0, "it has run"
    job.delete()
    nothing_remains(job)
    ours("delete", "pvc", "late")
    kubectl("delete", "pv/late", "storageclass/late")


DENSE = {"strategy": {"kind": "cagnet"}, "placement.ranks": 512, "placement.ranksPerServer": 1, "placement.partitioner": "hash",
         "resources.cpu": "900m"}
CUT = 16 << 10  # where containerd breaks a line of a log


def a_gang_of_512_that_all_talk_is_prepared():
    """What the prepare pod says of it is one line of some 400 KB, which the log has in pieces and a ConfigMap whole."""
    job = GnnJob("dense", CORA, DENSE).apply()
    job.wait("to be prepared and to wait for room", 300, lambda: (job.condition("Placed") or {}).get("reason") == "NoRoom")
    assert not job.status().get("restarts"), job.status()["restarts"]
    maps = json.loads(ours("get", "configmaps", "--selector", "atoll.dev/job=dense", "--output", "json"))["items"]
    told = [each["data"]["prepared.json"] for each in maps if "prepared.json" in each["data"]]
    assert len(told) == 1 and len(told[0]) > 21 * CUT, f"a line that a log has in more than 20 pieces, not of {list(map(len, told))}"
    assert json.loads(told[0])["unlistedFlow"] > 0, "what those exchange that aren't listed"
    job.delete()
    nothing_remains(job, 300)


SHORT = [one_after_the_other, withdraws_when_somebody_takes_the_room]
LONG = [twenty_times, waits_for_a_volume, a_gang_of_512_that_all_talk_is_prepared]
