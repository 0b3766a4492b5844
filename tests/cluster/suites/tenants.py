"""A day of two teams with Kubernetes' own roles view, edit and admin, while a job of the one trains: the other's people try to read what
is there, to get more on a node, and to stop job or operator. And what somebody writes into a volume of prepared graphs after a job
was prepared isn't trained on."""
import contextlib
import json
import re

import images
from control_plane import kubectl
from faults import CHANGES, of_a_job_that_lost_nothing
from jobs import CORA, LONG as MINUTE, SPACE, GnnJob, nothing_remains, ours
from place import BedError
from pods import apply
from policy import Enforced
from process import until
from security import METRICS, SSH, reaches, visitor
from stage import SHARED, SYSTEM, make_volume

TEAM, OTHERS = SPACE, "others"  # whose job trains, and who try their hands at it
ROLES = ("view", "edit", "admin")
KINDS = ("gnn", "pods", "secrets", "configmaps", "events", "networkpolicies.networking.k8s.io", "persistentvolumeclaims")


@contextlib.contextmanager
def people():
    """TEAM-view, OTHERS-admin, …: each with that role in its namespace alone."""
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS, "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}}]
    roles = [{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": f"day-{role}", "namespace": space},
              "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
              "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": f"{space}-{role}"}]}
             for space in (TEAM, OTHERS) for role in ROLES]
    apply(*spaces, *roles)
    make_volume("datasets", OTHERS)
    try:
        yield
    finally:
        kubectl("delete", "namespace", OTHERS, "--timeout=120s", seconds=130)
        kubectl("delete", "rolebinding", *[f"day-{role}" for role in ROLES], "--namespace", TEAM)
        kubectl("delete", "persistentvolume", f"{OTHERS}-datasets", "--timeout=60s", seconds=70)


def told(who, *words, **options):
    """What somebody is told who tries; "" where it worked."""
    try:
        kubectl(f"--as={who}", *words, **options)
        return ""
    except BedError as error:
        return str(error)


def forbidden(who, *words):
    said = told(who, *words)
    assert re.search(r"\(Forbidden\)|is forbidden: [uU]ser ", said), f"{who} to be forbidden {' '.join(words)}, not {said!r}"


def made_by(who, name, changes=None, space=OTHERS):
    job = GnnJob(name, CORA, changes).manifest()
    job["metadata"]["namespace"] = space
    return told(who, "create", "--filename", "-", input=json.dumps(job))


def read_nothing(job):
    worker = job.worker(0)["metadata"]["name"]
    for role in ROLES:
        who = f"{OTHERS}-{role}"
        for kind in KINDS:
            forbidden(who, "get", kind, "--namespace", TEAM)
        for words in (["logs", worker], ["exec", worker, "--", "id"], ["get", "secret", job.status()["keys"]]):
            forbidden(who, "--namespace", TEAM, *words)
        forbidden(who, "get", "secrets", "--namespace", SYSTEM)
    viewer = f"{TEAM}-view"
    assert not told(viewer, "get", "gnn", job.name, "--namespace", TEAM) and not told(viewer, "logs", worker, "--namespace", TEAM), "its own team's"
    for words in (["get", "secret", job.status()["keys"]], ["exec", worker, "--", "id"], ["delete", "gnn", job.name], ["delete", "pod", worker]):
        forbidden(viewer, "--namespace", TEAM, *words)
    visitor("neighbour", OTHERS)
    address = job.worker(0)["status"]["podIP"]
    assert not reaches("neighbour", OTHERS, address, SSH) and not reaches("neighbour", OTHERS, address, METRICS), "no pod of another team's"


def escape_nothing():
    helper = {"name": "helper", "image": images.BASE, "restartPolicy": "Always"}
    ways = [{"initContainers": [{**helper, **fields}]} for fields in (
        {"securityContext": {"privileged": True}}, {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}},
        {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
        {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, {"ports": [{"containerPort": 80, "hostPort": 8080}]},
        {"livenessProbe": {"httpGet": {"host": "169.254.169.254", "port": 80}}})]
    ways += [{"hostPID": True}, {"hostNetwork": True}, {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, {"shareProcessNamespace": True},
             {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, {"serviceAccountName": "admin"}]
    for role in ("edit", "admin"):
        for way in ways:
            said = made_by(f"{OTHERS}-{role}", "escape", {"template": {"spec": way}})
            assert re.search(r"ValidatingAdmissionPolicy 'atoll-jobs' .* denied request: template\.", said), f"{way} to be refused, not {said!r}"
    said = made_by(f"{OTHERS}-admin", "escape", {"dataset.volume": {"hostPath": {"path": "/"}}})
    assert "dataset.volume.hostPath: is not allowed here" in said, said
    forbidden(f"{OTHERS}-admin", "create", "rolebinding", "mine", "--clusterrole=atoll", f"--user={OTHERS}-admin", "--namespace", OTHERS)


def stop_nothing(job):
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
             "metadata": {"name": "mine", "namespace": OTHERS, "labels": {"atoll.dev/operator-class": "atoll"}},
             "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}}
    room = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "room", "namespace": OTHERS, "labels": {"atoll.dev/job": job.name}},
            "spec": {"containers": [{"name": "c", "image": images.BASE}]}}
    for role in ("edit", "admin"):
        who = f"{OTHERS}-{role}"
        for made in (lease, room):
            assert "operator" in told(who, "create", "--filename", "-", input=json.dumps(made)), f"{made} to be refused"
        for words in (["delete", "gnn", job.name], ["patch", "gnn", job.name, "--type=merge", "--patch", '{"spec": {"runPolicy": {"suspend": true}}}'],
                      ["delete", "pods", "--all"], ["delete", "networkpolicies.networking.k8s.io", job.name], ["delete", "secrets", "--all"]):
            forbidden(who, *words, "--namespace", TEAM)
        for words in (["delete", "pods", "--all"], ["delete", "lease", "--all"], ["scale", "deployment/atoll", "--replicas=0"]):
            forbidden(who, *words, "--namespace", SYSTEM)
    # What they may: jobs that never fit, that are hardly valid, and that they take the objects of away.
    for number in range(20):
        assert not made_by(f"{OTHERS}-edit", f"never-{number}", {"placement.ranks": 64, "placement.ranksPerServer": 1, "resources.cpu": "3"})
    said = made_by(f"{OTHERS}-edit", "broken", {"template": {"spec": {"tolerations": [{"operator": "Never"}]}}})
    assert not said, said
    told(f"{OTHERS}-edit", "delete", "secrets,configmaps,pods", "--all", "--wait=false", "--namespace", OTHERS)


def restarts():
    pods = json.loads(kubectl("get", "pods", "--namespace", SYSTEM, "--selector", "app.kubernetes.io/name=atoll", "--output", "json"))["items"]
    return {pod["metadata"]["name"]: [each["restartCount"] for each in pod["status"]["containerStatuses"]]
            for pod in pods if "deletionTimestamp" not in pod["metadata"]}  # an installation just before leaves pods that end


def two_tenants_day():
    before = restarts()
    with people(), Enforced(TEAM):
        job = GnnJob("day", MINUTE, CHANGES).apply().until("Running", 120)
        job.until_epoch(5, 120)
        read_nothing(job)
        escape_nothing()
        stop_nothing(job)
        job.until("Succeeded", 300)
        assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that nobody troubles"
        assert not job.status().get("restarts"), job.status()["restarts"]
        assert restarts() == before, f"the operators that there were, {before}, not {restarts()}"
        job.delete()
        nothing_remains(job)
        after = GnnJob("after-the-day", CORA, {"training.epochs": 5}).apply().until("Succeeded", 120)
        after.delete()
        nothing_remains(after)


def what_was_prepared_is_what_is_trained():
    """Somebody who writes into the same volume changes a neighbour between two attempts."""
    job = GnnJob("changed", MINUTE, {**CHANGES, "runPolicy.backoffLimit": 1, "dataset.synthetic.seed": 7}).apply().until("Running", 120)
    job.until_epoch(5, 120)
    newest = max((SHARED / "datasets").glob("generated/*/prepared/metis-4-*/columns.npy"), key=lambda path: path.stat().st_mtime)
    kept = newest.read_bytes()
    newest.write_bytes(kept[:-4] + bytes([kept[-4] ^ 1]) + kept[-3:])
    try:
        job.signal_ranks(1, "KILL")
        until("the job to end", 180, lambda: job.holds("Failed"))
        message = job.condition("Failed")["message"]
        assert "columns.npy: is damaged" in message and "remove the folder" in message, message
    finally:
        newest.write_bytes(kept)
    ours("delete", "gnn", job.name)
    nothing_remains(job)


SHORT = []
LONG = [two_tenants_day, what_was_prepared_is_what_is_trained]
