"""What the installed resource refuses, in our words and with the field's path, before anything is made; tests/e2e/custom_resource
has the whole table. What only the operator can tell ends the job at once. What a quota or a LimitRange refuses is told and tried
again."""
import contextlib

from control_plane import kubectl
from jobs import CORA, SPACE, GnnJob, nothing_remains, ours
from place import BedError
from pods import apply

REFUSED = [
    ({"model.kind": "gcm"}, 'spec.model.kind: Unsupported value: "gcm"'),
    ({"strategy.pipegcn": {"smoothing": "none"}}, "spec.strategy"),
    ({"model.gat": {"heads": 8}}, "spec.model"),
    ({"placement.ranks": 0}, "spec.placement.ranks: Invalid value"),
    ({"training.epoch": 5}, 'unknown field "spec.training.epoch"'),
    ({"template.spec.priority": {"no": "number"}}, None),
]


def refuses_with_the_fields_path():
    for changes, words in REFUSED:
        job = GnnJob("refused", changes=changes)
        try:
            job.apply()
            told = None
        except BedError as error:
            told = str(error)
        if words:
            assert told and words in told, f"{changes}: {words!r} expected, not {told}"
    ours("delete", "gnn", "--all")


def a_job_keeps_what_it_trains():
    job = GnnJob("kept", changes={"runPolicy.suspend": True}).apply()
    try:
        job.patch(model={"hidden": 99})
        raise AssertionError("a model changed under a job")
    except BedError as error:
        assert "spec.model" in str(error) and "can't be changed once the job exists" in str(error), error
    job.delete()


@contextlib.contextmanager
def bounded(kind, name, spec):
    """While it lasts the namespace of jobs has this object."""
    apply({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": SPACE}, "spec": spec})
    try:
        yield
    finally:
        ours("delete", kind.lower(), name, "--ignore-not-found")


def is_refused_with(job, words):
    job.wait(f"to be refused with {words!r}", 60, lambda: words in (job.condition("Created") or {}).get("message", ""))
    created = job.condition("Created")
    assert (created["status"], created["reason"]) == ("False", "Refused"), created
    assert "is refused by the API server" in created["message"], created


def trains_now(job):
    job.until("Succeeded", 120)
    assert job.holds("Created"), job.condition("Created")
    job.delete()
    nothing_remains(job)


def a_quota_that_is_raised():
    """Room for one of the gang's three pods."""
    with bounded("ResourceQuota", "small", {"hard": {"pods": "1"}}):
        job = GnnJob("over-quota", CORA, {"training.epochs": 5, "resources.cpu": "900m"}).apply()
        is_refused_with(job, "exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1")
        kubectl("patch", "resourcequota", "small", "--namespace", SPACE, "--type=merge",
                "--patch", '{"spec": {"hard": {"pods": "10"}}}')
        trains_now(job)


def a_limit_that_is_lifted():
    limit = {"type": "Container", "max": {"cpu": "300m"}}
    with bounded("LimitRange", "tight", {"limits": [limit]}):
        job = GnnJob("over-limit", CORA, {"training.epochs": 5}).apply()
        is_refused_with(job, "maximum cpu usage per Container is 300m")
    trains_now(job)


SHORT = [refuses_with_the_fields_path, a_job_keeps_what_it_trains]
LONG = [a_quota_that_is_raised, a_limit_that_is_lifted]
