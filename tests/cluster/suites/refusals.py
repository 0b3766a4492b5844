"""What the installed resource refuses, in our words and with the field's path, before anything is made; tests/e2e/custom_resource
has the whole table. What only the operator can tell ends the job at once."""
from jobs import GnnJob, ours
from place import BedError

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


SHORT = [refuses_with_the_fields_path, a_job_keeps_what_it_trains]
LONG = []
