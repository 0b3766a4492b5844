"""What a job's NetworkPolicy lets through where it is enforced, who logs in to whom, and that the operator may do what it does and
no more."""
import contextlib
import json
import time

import images
from control_plane import CP, kubectl
from faults import CHANGES, of_a_job_that_lost_nothing
from jobs import CORA, LONG as MINUTE, SPACE, GnnJob, delete_all, nothing_remains, ours
from policy import Enforced
from place import BedError
from pods import apply
from process import until
from stage import SYSTEM, install_operator

SSH, METRICS = 2222, 9400


def visitor(name, space):
    """A pod that meets the restricted level and does nothing but what it is told to."""
    container = {"name": "main", "image": images.BASE, "imagePullPolicy": "Never", "command": ["sleep", "1000"],
                 "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                                     "runAsNonRoot": True, "runAsUser": 65534,
                                     "seccompProfile": {"type": "RuntimeDefault"}}}
    apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space},
           "spec": {"terminationGracePeriodSeconds": 0, "containers": [container]}})
    kubectl("wait", "--namespace", space, "--for=condition=Ready", f"pod/{name}", "--timeout=60s", seconds=70)


def reaches(name, space, address, port):
    script = f"timeout 3 bash -c 'exec 3<>/dev/tcp/{address}/{port}' 2>/dev/null && echo yes || echo no"
    return kubectl("exec", "--namespace", space, name, "--", "bash", "-c", script).strip() == "yes"


def a_job_is_reached_by_whom_it_should_be():
    visitor("prometheus-to-be", "monitoring")
    visitor("stranger", SPACE)
    try:
        with Enforced(SPACE):
            job = GnnJob("guarded", MINUTE, CHANGES).apply().until("Running", 120)
            job.until_epoch(10, 120)
            for server in (0, 1):
                address = job.worker(server)["status"]["podIP"]
                assert not reaches("stranger", SPACE, address, SSH), "a stranger must not reach sshd"
                assert not reaches("stranger", SPACE, address, METRICS), "nor the metrics"
                assert not reaches("prometheus-to-be", "monitoring", address, SSH), "Prometheus' namespace must not reach sshd"
                assert reaches("prometheus-to-be", "monitoring", address, METRICS), "it may read metrics"
            job.wait("to have its progress read by the operator", 60, lambda: job.status().get("progress", {}).get("epoch"))
            job.until("Succeeded", 240)
            assert job.losses() == of_a_job_that_lost_nothing(job), "the losses of a job that nothing guards"
            job.delete()
            nothing_remains(job)
    finally:
        kubectl("delete", "pod", "prometheus-to-be", "--namespace", "monitoring", "--now", "--ignore-not-found")
        kubectl("delete", "pod", "stranger", "--namespace", SPACE, "--now", "--ignore-not-found")


def without_a_policy_a_stranger_is_let_in():
    """Else the check above would prove nothing."""
    visitor("stranger", SPACE)
    try:
        job = GnnJob("open", MINUTE, CHANGES).apply().until("Running", 120)
        assert reaches("stranger", SPACE, job.worker(1)["status"]["podIP"], SSH)
        job.delete()
        nothing_remains(job)
    finally:
        kubectl("delete", "pod", "stranger", "--namespace", SPACE, "--now", "--ignore-not-found")


def no_server_logs_in_to_another():
    """A tree of depth four, in which mpirun would have each server log in to the next: they hold no key, so it must do it all."""
    job = GnnJob("no-tree", CORA, {"placement.ranksPerServer": 1, "training.epochs": 5})
    job.spec["template"] = {"spec": {"containers": [{"name": "engine", "env": [
        {"name": "OMPI_MCA_routed_radix", "value": "1"}]}]}}
    job.apply().until("Succeeded", 120)
    assert len(job.status()["placement"]["servers"]) == 4, job.status()["placement"]
    job.delete()
    nothing_remains(job)


@contextlib.contextmanager
def editor(name):
    """Somebody with Kubernetes' own role edit in the namespace of jobs, and nothing elsewhere."""
    kubectl("create", "rolebinding", name, "--clusterrole=edit", f"--user={name}", "--namespace", SPACE)
    try:
        yield f"--as={name}"
    finally:
        kubectl("delete", "rolebinding", name, "--namespace", SPACE)


def a_tenant_does_not_stop_the_operator():
    """Whoever has the role edit may write leases, and an operator ends that finds one which says that another sees to its jobs."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
             "metadata": {"name": "mine", "namespace": SPACE, "labels": {"atoll.dev/operator-class": "atoll"},
                          "annotations": {"atoll.dev/namespaces": ""}},
             "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}}
    with editor("tenant") as tenant:
        told = ""
        try:
            kubectl("create", tenant, "--filename", "-", input=json.dumps(lease))
        except BedError as error:
            told = str(error)
        assert "is the operators'" in told, f"the lease to be refused, not {told!r}"
        kubectl("rollout", "restart", "deployment/atoll", "--namespace", SYSTEM)
        kubectl("rollout", "status", "deployment/atoll", "--namespace", SYSTEM, "--timeout=120s", seconds=130)
        job = GnnJob("after-a-restart", CORA, {"training.epochs": 5}).apply().until("Succeeded", 120)
        job.delete()
        nothing_remains(job)


NEVER = 40  # jobs
# Ten servers of nearly a node each, on four nodes: one would fit, and is prepared.
TOO_MANY = {"placement.ranks": 20, "placement.ranksPerServer": 2, "resources.cpu": "900m", "training.epochs": 5}


def seconds_to_places(name):
    job = GnnJob(name, CORA, {"training.epochs": 5})
    began = time.monotonic()
    job.apply().wait("to have places", 120, lambda: job.holds("Placed"))
    took = time.monotonic() - began
    job.until("Succeeded", 120)
    job.delete()
    nothing_remains(job)
    return took


def gangs_that_never_fit_hold_up_nobody():
    """A tenant's, which have all waited so long that room would be kept for them: others' jobs have places as soon as ever."""
    install_operator(**{"jobs.reserveAfterSeconds": 5})
    try:
        alone = seconds_to_places("alone")
        jobs = [GnnJob(f"never-{number}", CORA, TOO_MANY) for number in range(NEVER)]
        with editor("tenant") as tenant:
            kubectl("create", tenant, "--filename", "-", seconds=120,
                    input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [each.manifest() for each in jobs]}))
        until("all of them to wait for room", 600, lambda: waiting_for_room() == NEVER)
        time.sleep(10)
        beside = seconds_to_places("beside")
        print(f"       places after {alone:.0f} s alone, {beside:.0f} s beside {NEVER} gangs that never fit", flush=True)
        assert beside <= alone + 20, f"{beside:.0f} s beside them, {alone:.0f} s without"
        assert waiting_for_room() == NEVER, "all of them wait on"
    finally:
        delete_all()
        install_operator()


def waiting_for_room():
    """How many of the tenant's jobs do."""
    states = ours("get", "gnn", "--output", "jsonpath={range .items[*]}{.metadata.name} {.status.reason}{'\\n'}{end}").split("\n")
    return sum(each.startswith("never-") and each.endswith(" NoRoom") for each in states)


def with_variable(name, size, changes=None):
    """A job whose spec has so many bytes, and more."""
    engine = {"name": "engine", "env": [{"name": "LARGE", "value": "x" * size}]}
    return GnnJob(name, CORA, {"template": {"spec": {"containers": [engine]}}} | (changes or {}))


def create_all(jobs):
    manifests = [each.manifest() for each in jobs]
    for ten in range(0, len(manifests), 10):
        kubectl("create", "--namespace", SPACE, "--filename", "-",
                input=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests[ten:ten + 10]}), seconds=120)


def is_refused_for_its_spec(job, words):
    job.wait(f"to be refused with {words!r}", 120, lambda: (job.condition("Failed") or {}).get("reason") == "InvalidSpec")
    assert words in job.condition("Failed")["message"], job.condition("Failed")


def large_specs_do_not_stop_the_operator():
    """A tenant's hundred valid jobs of 0.9 MB each, of which nothing is kept, and three hundred of as much as one may have: of these no
    more than 16 MiB in all."""
    large = [with_variable(f"large-{number}", 900_000) for number in range(100)]
    many = [with_variable(f"many-{number}", 60_000, {"runPolicy.suspend": True}) for number in range(300)]
    try:
        create_all(large)
        is_refused_for_its_spec(large[-1], "at most 64 are allowed")
        create_all(many)
        is_refused_for_its_spec(many[-1], "more than 16 MiB")
        assert many[0].holds("Suspended"), many[0].status()
        ours("delete", "gnn", *[each.name for each in many[:10]])  # which makes room for another
        job = GnnJob("after-large-ones", CORA, {"training.epochs": 5}).apply().until("Succeeded", 120)
        job.delete()
        pods = json.loads(kubectl("get", "pods", "--namespace", SYSTEM, "--selector", "app.kubernetes.io/name=atoll", "--output", "json"))["items"]
        restarts = [each["restartCount"] for pod in pods for each in pod["status"]["containerStatuses"]]
        assert restarts and not any(restarts), f"an operator started anew: {restarts}"
    finally:
        ours("delete", "gnn", "--all", seconds=300)


def a_job_gets_no_rights_on_its_node():
    """Of one who may make jobs, but no pods."""
    kubectl("create", "role", "jobs", "--verb=create", "--resource=gnnjobs.atoll.dev", "--namespace", SPACE)
    kubectl("create", "rolebinding", "jobs", "--role=jobs", "--user=jobs", "--namespace", SPACE)
    helper = {"name": "helper", "image": images.BASE, "restartPolicy": "Always"}
    try:
        for fields in ({"securityContext": {"privileged": True}}, {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}},
                       {"ports": [{"containerPort": 80, "hostPort": 8080}]}):
            job = GnnJob("privileged", CORA, {"template": {"spec": {"initContainers": [{**helper, **fields}]}}})
            told = ""
            try:
                kubectl("create", "--as=jobs", "--namespace", SPACE, "--filename", "-", input=json.dumps(job.manifest()))
            except BedError as error:
                told = str(error)
            assert "is not allowed here" in told, f"{fields} to be refused, not {told!r}"
    finally:
        kubectl("delete", "role/jobs", "rolebinding/jobs", "--namespace", SPACE)


# Reads of single objects after a conflict, which may not have happened.
AT_CONFLICTS = {("", "configmaps", "get"), ("networking.k8s.io", "networkpolicies", "get"), ("atoll.dev", "gnnjobs", "get"),
                ("", "pods", "get")}


def the_operator_uses_what_it_may():
    """By the audit log of all that it did on this bed: the last check of the long suite."""
    account = f"system:serviceaccount:{SYSTEM}:atoll"
    with open(CP.folder / "log/audit.log", encoding="utf-8") as lines:
        everyone = [each for each in map(json.loads, lines) if "objectRef" in each]
    requests = [each for each in everyone if each["user"].get("username") == account]  # who is unknown has no name
    refused = [(each["verb"], each["objectRef"]) for each in requests if each["responseStatus"]["code"] == 403
               and "is forbidden: User" in each["responseStatus"].get("message", "") and had_rights(each, everyone)]
    assert not refused, f"nothing is forbidden to it, not {refused[:5]}"
    used = {(ref.get("apiGroup", ""), "/".join(filter(None, (ref["resource"], ref.get("subresource")))), each["verb"])
            for each in requests if "resource" in (ref := each["objectRef"])}
    may = granted("clusterrole/atoll") | granted("role/atoll-lease", "--namespace", SYSTEM)
    may_with_mpi_jobs = may | {("kubeflow.org", "mpijobs", verb) for verb in ("get", "list", "watch", "create", "delete")}
    assert used <= may_with_mpi_jobs, f"nothing beyond what is granted, not {sorted(used - may_with_mpi_jobs)}"
    assert may - used <= AT_CONFLICTS, f"all that is granted is used, but not {sorted(may - used - AT_CONFLICTS)}"


def had_rights(request, everyone):
    """Whether the chart was installed then: an operator that is being uninstalled outlives its rights for a moment."""
    verbs = [each["verb"] for each in everyone if each["objectRef"].get("resource") == "rolebindings"
             and each["requestReceivedTimestamp"] <= request["requestReceivedTimestamp"] and each["verb"] in ("create", "delete")
             and each["objectRef"].get("name") == "atoll-lease"]
    return verbs[-1:] == ["create"]


def granted(*role):
    rules = json.loads(kubectl("get", *role, "--output", "json"))["rules"]
    return {(group, resource, verb) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]
            for verb in rule["verbs"]}


SHORT = []
LONG = [a_job_is_reached_by_whom_it_should_be, without_a_policy_a_stranger_is_let_in, no_server_logs_in_to_another,
        a_tenant_does_not_stop_the_operator, gangs_that_never_fit_hold_up_nobody, large_specs_do_not_stop_the_operator,
        a_job_gets_no_rights_on_its_node, the_operator_uses_what_it_may]
