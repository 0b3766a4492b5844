"""Kueue's resources as far as our operator meets them (kueue.x-k8s.io/v1beta2), with the rules that it could break, and Kueue's
way of writing a Workload's status."""
import datetime
import json

_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT = {"type": "string"}
_NAME = {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}


def _object(required=(), **properties):
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _map_list(key, items, most):
    return {"type": "array", "items": items, "maxItems": most, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}


_LEVEL = {"type": "string", "maxLength": 63}
_POD_SET = _object(["template"], name={**_NAME, "default": "main"}, count={"type": "integer", "minimum": 0}, template=_ANY,
                   topologyRequest={"type": "object", "properties": {
                       "required": _LEVEL, "preferred": _LEVEL, "unconstrained": {"type": "boolean"}}})
_CLASS = _object(["group", "kind", "name"], group={"type": "string", "enum": ["kueue.x-k8s.io", "scheduling.k8s.io"]},
                 kind={"type": "string", "enum": ["WorkloadPriorityClass", "PriorityClass"]}, name=_TEXT)
_CONDITION = _object(["type", "status", "lastTransitionTime", "reason", "message"], type=_TEXT,
                     status={"type": "string", "enum": ["True", "False", "Unknown"]},
                     observedGeneration={"type": "integer"}, lastTransitionTime={"type": "string", "format": "date-time"},
                     reason={"type": "string", "minLength": 1, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
                     message={"type": "string", "maxLength": 32768})
_ASSIGNMENT = _object(name={**_NAME, "default": "main"}, flavors={"type": "object", "additionalProperties": _TEXT},
                      count={"type": "integer"}, topologyAssignment=_ANY)
_RESERVED = "has({0}.status) && has({0}.status.conditions) && " \
            "{0}.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status == 'True')"
_WORKLOAD = {**_object(
    spec={**_object(podSets={**_map_list("name", _POD_SET, 8), "minItems": 1}, queueName=_TEXT, priorityClassRef=_CLASS,
                    priority={"type": "integer", "format": "int32"}, active={"type": "boolean", "default": True}),
          "x-kubernetes-validations": [{"rule": "!has(self.priorityClassRef) || has(self.priority)",
                                        "message": "priority should not be nil when priorityClassRef is set"}]},
    status=_object(conditions=_map_list("type", _CONDITION, 16),
                   admission=_object(clusterQueue=_TEXT, podSetAssignments=_map_list("name", _ASSIGNMENT, 8)),
                   unhealthyNodes=_map_list("name", _object(["name"], name=_TEXT), 8))),
    "x-kubernetes-validations": [
        {"rule": f"{_RESERVED.format('self')} && has(self.status.admission) ? "
                 "size(self.spec.podSets) == size(self.status.admission.podSetAssignments) : true",
         "message": "podSetAssignments must have the same number of podSets as the spec"},
        {"rule": f"{_RESERVED.format('oldSelf')} && {_RESERVED.format('self')} ? "
                 "oldSelf.spec.queueName == self.spec.queueName : true",
         "message": "queueName is immutable while workload quota reserved"}]}


def _resource(kind, plural, schema, namespaced, status=False):
    version = {"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if status:
        version["subresources"] = {"status": {}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.kueue.x-k8s.io",
                         "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/kueue"}},
            "spec": {"group": "kueue.x-k8s.io", "scope": "Namespaced" if namespaced else "Cluster",
                     "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
                     "versions": [version]}}


def install(server):
    """The resources, a flavor gnn-nodes of nodes labelled pool=gnn, and a class urgent."""
    for each in (_resource("Workload", "workloads", _WORKLOAD, namespaced=True, status=True),
                 _resource("ResourceFlavor", "resourceflavors", _object(spec=_ANY), namespaced=False),
                 _resource("ClusterQueue", "clusterqueues", _object(spec=_ANY), namespaced=False),
                 _resource("LocalQueue", "localqueues", _object(spec=_ANY), namespaced=True),
                 _resource("WorkloadPriorityClass", "workloadpriorityclasses", _object(value={"type": "integer"}), namespaced=False)):
        server.expect("create", "-f", "-", text=json.dumps(each))
    server.until_defined()
    for each in ({"kind": "ResourceFlavor", "metadata": {"name": "gnn-nodes"}, "spec": {"nodeLabels": {"pool": "gnn"}}},
                 {"kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 7}):
        server.expect("create", "-f", "-", text=json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", **each}))


def conditions(**reasons):
    """Conditions that hold, by their reasons."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [{"type": kind, "status": "True", "reason": reason, "message": f"{kind} by the test", "lastTransitionTime": now}
            for kind, reason in reasons.items()]


def assignment(nodes):
    """Of a pod to each, in one slice, as Kueue writes it of nodes whose names begin alike."""
    return {"levels": ["kubernetes.io/hostname"], "slices": [{
        "domainCount": len(nodes), "podCounts": {"universal": 1},
        "valuesPerLevel": [{"individual": {"prefix": "n", "roots": [node.removeprefix("n") for node in nodes]}}]}]}


def apply_status(server, name, status, manager="kueue-admission"):
    patch = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name}, "status": status}
    server.expect("apply", "--server-side", "--subresource=status", f"--field-manager={manager}", "--force-conflicts", "-f", "-",
                  text=json.dumps(patch))
