"""The charts on a cluster: data sets by checksum or not at all, jobs that outlive an operator's removal, a Prometheus that sees
what jobs do."""
import json
import pathlib
import re
import shutil
import tempfile

import stage
from control_plane import kubectl
from faults import CHANGES, of_a_job_that_lost_nothing
from jobs import CORA, LONG as MINUTE, GnnJob, nothing_remains, ours
from place import REPOSITORY, BedError
from pods import address_of, apply, pod
from process import run, until
from prometheus import Prometheus

DATA = REPOSITORY / "charts/atoll-datasets"
MONITORING = REPOSITORY / "charts/atoll-monitoring"
# Files of /served by their names, with the length that a download is checked by.
SERVER = r"""use IO::Socket::INET; my $s=IO::Socket::INET->new(LocalPort=>8080,Listen=>9,ReuseAddr=>1) or die;
while(my $c=$s->accept){ my $q=<$c>; while(<$c>){last if /^\r?$/} my ($m,$p)=$q=~m{^(\w+) /([\w.]+)};
if(open(my $f,'<:raw',"/served/$p")){ local $/; my $t=<$f>; print $c "HTTP/1.0 200 OK\r\nContent-Length: ".length($t)."\r\n\r\n";
print $c $t unless $m eq 'HEAD' } else { print $c "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n" } close $c }"""


def serve_cora():
    """A web server in the cluster with Cora's files; their URLs by file name."""
    folder = stage.SHARED / "served"
    folder.mkdir(exist_ok=True)
    files = sorted((REPOSITORY / "tests/data/cora").iterdir())
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    server = pod("files")
    server["spec"]["containers"][0]["command"] = ["perl", "-e", SERVER]
    server["spec"]["containers"][0]["volumeMounts"].append({"name": "served", "mountPath": "/served"})
    server["spec"]["volumes"].append({"name": "served", "hostPath": {"path": "/mnt/served"}})
    apply(server)
    kubectl("wait", "--for=condition=Ready", "pod/files", "--timeout=60s", seconds=70)
    return {file.name: f"http://{address_of('files')}:8080/{file.name}" for file in files}


def sha256(name):
    return run(["sha256sum", stage.SHARED / "served" / name]).split()[0]


def install_data(urls, checksum):
    entry = {"fetch": [{"url": url, "sha256": checksum(name)} for name, url in urls.items()], "import": {"format": "npy"}}
    values = stage.SHARED / "fetched.json"
    values.write_text(json.dumps({"claim": {"create": False}, "backoffLimit": 1, "datasets": {"fetched": entry}}))
    stage.helm("upgrade", "--install", "fetched", DATA, "--namespace", stage.SPACE, "--values", values)


def jobs_of_data():
    return json.loads(ours("get", "jobs", "--output", "json"))["items"]


def ended(kind):
    return any(state["type"] == kind and state["status"] == "True" for each in jobs_of_data()
               for state in each["status"].get("conditions", []))


def a_data_set_with_a_wrong_checksum():
    urls = serve_cora()
    install_data(urls, lambda name: sha256(name) if name != "labels.npy" else "0" * 64)
    until("the wrong checksum to be refused", 120, lambda: ended("Failed"))
    assert not (stage.SHARED / "datasets/fetched").exists(), "a data set of files that weren't what was asked for"
    install_data(urls, sha256)
    until("the data set to be made", 120, lambda: ended("Complete"))
    job = GnnJob("fetched", CORA, {"dataset.name": "fetched", "training.epochs": 5}).apply().until("Succeeded", 120)
    job.delete()
    nothing_remains(job)
    stage.helm("uninstall", "fetched", "--namespace", stage.SPACE)
    kubectl("delete", "pod", "files", "--now")


def jobs_outlive_the_operator():
    job = GnnJob("outlives", MINUTE, CHANGES).apply().until("Running", 120)
    stage.helm("uninstall", "atoll", "--namespace", stage.SYSTEM, "--wait")
    try:
        had = len(job.losses())
        job.wait("to go on without an operator", 60, lambda: len(job.losses()) > had + 5)
    finally:
        stage.install_operator()
    job.until("Succeeded", 240)
    assert not job.status().get("restarts"), job.status()
    job.delete()
    nothing_remains(job)


def older_chart(folder):
    """The chart as it was before its resource had `progressDeadlineSeconds`."""
    shutil.copytree(REPOSITORY / "charts/atoll", folder, dirs_exist_ok=True)
    crd = pathlib.Path(folder, "crd/gnnjobs.atoll.dev.yaml")
    text, removed = re.subn(r"\n {18}progressDeadlineSeconds:(\n {19,}.*)+", "", crd.read_text())
    assert removed == 1, f"{removed} fields of that name"
    crd.write_text(text)


def an_upgrade_brings_a_field():
    """A job that was made with the older resource trains on meanwhile."""
    stage.helm("uninstall", "atoll", "--namespace", stage.SYSTEM, "--wait")
    kubectl("delete", "crd", "gnnjobs.atoll.dev")
    try:
        with tempfile.TemporaryDirectory(prefix="atoll-chart.") as folder:
            older_chart(folder)
            stage.install_operator(folder)
        until("the older resource to be served", 30, lambda: "gnnjobs" in kubectl("api-resources", "--api-group=atoll.dev"))
        job = GnnJob("before", MINUTE, CHANGES).apply().until("Running", 120)
        newer = GnnJob("after", CORA, {"runPolicy.progressDeadlineSeconds": 60, "training.epochs": 5})
        assert 'unknown field "spec.runPolicy.progressDeadlineSeconds"' in refusal_of(newer)
    finally:
        stage.install_operator()
    until("the field to be known", 30, lambda: not refusal_of(newer))
    newer.until("Succeeded", 180)
    job.until("Succeeded", 240)
    assert not job.status().get("restarts"), job.status()
    assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job whose operator wasn't upgraded"
    for each in (job, newer):
        each.delete()
        nothing_remains(each)


def refusal_of(job):
    """What the API server says against it; nothing where it takes it."""
    try:
        job.apply()
        return ""
    except BedError as error:
        return str(error)


def install_monitoring():
    stage.helm("upgrade", "--install", "monitoring", MONITORING, "--namespace", stage.SYSTEM, "--set",
               f"discovery=annotations,jobNamespaces={{{stage.SPACE}}},operator.namespace={stage.SYSTEM}")


def a_job_that_is_seen(prometheus):
    job = GnnJob("watched", MINUTE, CHANGES).apply().until("Running", 120)
    until("four ranks' epochs in Prometheus", 60, lambda: len(prometheus.query("atoll_epoch > 1")) >= 4)
    until("an operator that leads", 30, lambda: prometheus.query("leader_election_master_status == 1"))
    loss = until("the loss by rank 0", 30, lambda: prometheus.query("atoll_loss"))
    assert loss[0][1] > 0, loss
    return job


def prometheus_sees_a_job():
    install_monitoring()
    with Prometheus() as prometheus:
        job = a_job_that_is_seen(prometheus)
    job.delete()
    nothing_remains(job)


def an_alert_for_a_stalled_job():
    install_monitoring()
    with Prometheus() as prometheus:
        job = a_job_that_is_seen(prometheus)
        job.signal_ranks(1, "STOP", rank=3)
        until("the alert", 280, lambda: "AtollJobStalled" in prometheus.firing())
    job.delete()
    nothing_remains(job)


SHORT = [a_data_set_with_a_wrong_checksum]
LONG = [jobs_outlive_the_operator, an_upgrade_brings_a_field, prometheus_sees_a_job, an_alert_for_a_stalled_job]
