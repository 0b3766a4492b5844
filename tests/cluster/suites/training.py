"""A job on a cluster trains what `atoll run` trains here, on the nodes that were planned, and says what it sent."""
import json
import pathlib
import tempfile

import stage
from control_plane import kubectl
from jobs import CORA, GnnJob, nothing_remains


def expected_losses(job, ranks):
    """Of `atoll run` on this machine: the same manifest, data, ranks and threads."""
    with tempfile.TemporaryDirectory(prefix="atoll-cluster.") as folder:
        spec = {key: value for key, value in job.spec.items() if key != "resources"}
        spec["dataset"] = {key: value for key, value in spec["dataset"].items() if key != "volume"}
        spec["output"] = {"path": "here"}
        manifest = {**job.manifest(), "spec": spec}
        file = pathlib.Path(folder) / "job.yaml"
        file.write_text(json.dumps(manifest))
        told = stage.atoll("run", "-f", file, "--json", "--threads", "1", "--ranks", ranks, "--data-root",
                           stage.SHARED / "datasets", cwd=folder)
        events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        return [event["loss"] for event in events if event["event"] == "epoch"]


def same_losses_as_on_one_machine():
    job = GnnJob("cora-four", CORA, {"resources.cpu": "900m"}).apply().until("Succeeded", 120)
    assert job.losses() == expected_losses(job, 4), f"{job.losses()[:3]} … {job.losses()[-3:]}"
    planned = [server["node"] for server in job.status()["placement"]["servers"]]
    assert len(set(planned)) == 2, f"two ranks of 0.9 cores on each of two nodes, not {planned}"
    assert job.status()["result"]["testMetric"] > 0.75, job.status()["result"]
    job.delete()
    nothing_remains(job)


SHORT = [same_losses_as_on_one_machine]
LONG = []
