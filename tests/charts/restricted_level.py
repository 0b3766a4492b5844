"""The restricted Pod Security level (kubernetes.io/docs/concepts/security/pod-security-standards), as its text says it, judged
on a pod's or a pod template's fields. tests/unit/operator_objects does the same for the pods that the operator makes."""

VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def faults(pod):
    """One line for each thing that the level doesn't allow."""
    spec = pod["spec"]
    found = [key for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    for volume in spec.get("volumes", []):
        found += [f"volume {volume['name']} of kind {kind}" for kind in volume if kind not in VOLUMES | {"name"}]
    for container in spec["containers"] + spec.get("initContainers", []):
        found += [f"{container['name']} {fault}" for fault in _of_container(container, spec.get("securityContext", {}))]
    return found


def _of_container(container, of_pod):
    own = container.get("securityContext", {})
    if own.get("privileged"):
        yield "is privileged"
    if own.get("allowPrivilegeEscalation", True):
        yield "may gain privileges"
    if not own.get("runAsNonRoot", of_pod.get("runAsNonRoot")):
        yield "may be root"
    if own.get("runAsUser", of_pod.get("runAsUser")) == 0:
        yield "is root"
    if own.get("capabilities", {}).get("drop") != ["ALL"]:
        yield "keeps capabilities"
    if set(own.get("capabilities", {}).get("add", [])) - {"NET_BIND_SERVICE"}:
        yield "adds a capability"
    if own.get("seccompProfile", of_pod.get("seccompProfile", {})).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "has no seccomp profile"
    if any(port.get("hostPort") for port in container.get("ports", [])):
        yield "has a host port"
