"""Nodes, and the pods of others on them, that are there before the API server starts: written into etcd as JSON, which API servers
read beside their own format. A hundred thousand that are created, bound and told of one by one take half an hour."""
import dataclasses
import json
import pathlib
import subprocess
import sys

import simulated
from control_plane import inside
from place import BedError

ETCD = "127.0.0.1:2379"  # in the control plane's network
PUT = pathlib.Path(__file__).with_name("put.py")
OTHERS = "others"        # namespace of the other pods
BORN = "2026-03-01T12:00:00Z"
ZONES = 4


@dataclasses.dataclass(frozen=True)
class Pod:
    """Of somebody else's."""
    name: str
    node: str
    cpu: str
    memory: str = "512Mi"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """`pods`: those on the node of a number, from 1 on."""
    nodes: int
    pods: callable
    per_block: int = 16
    address: str = "10.77.0.1"  # of the control plane, which plays all kubelets

    def objects(self):
        """(key in etcd, object)"""
        per_zone = -(-self.nodes // ZONES)
        serial = 0
        for number in range(1, self.nodes + 1):
            node = ready_node(number, self.per_block, (number - 1) // per_zone + 1, self.address)
            yield f"/registry/minions/{node['metadata']['name']}", node
            for pod in self.pods(number):
                serial += 1
                yield f"/registry/pods/{OTHERS}/{pod.name}", running_pod(pod, serial)

    def count_pods(self):
        return sum(len(self.pods(number)) for number in range(1, self.nodes + 1))

    def write(self):
        """Into the bed's etcd."""
        command, environment = inside([sys.executable, PUT, ETCD])
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            try:
                for key, thing in self.objects():
                    process.stdin.write(f"{key}\t{json.dumps(thing, separators=(',', ':'))}\n".encode())
                process.stdin.close()
            except BrokenPipeError:  # it says why
                process.stdin = None
            told, problem = process.stdout.read().decode(), process.stderr.read().decode()
        if process.returncode or int(told) != self.nodes + self.count_pods():
            raise BedError(f"{self.nodes} nodes and {self.count_pods()} pods were to be written to etcd, not {told.strip() or 'any'}: "
                           f"{problem[-1000:]}")


def even(each, cpu="250m"):
    """Cluster.pods: so many on every node."""
    return lambda number: [Pod(f"other-{number:05}-{which:03}", f"k{number:04}", cpu) for which in range(each)]


def identity(kind, number):
    return f"00000000-0000-4000-{kind:04x}-{number:012x}"


def ready_node(number, per_block, zone, address):
    """As kwok would have told of it, so that it leaves it alone."""
    node = simulated.node(number, per_block)
    node["metadata"] |= {"uid": identity(0x8001, number), "creationTimestamp": BORN}
    node["metadata"]["labels"]["topology.kubernetes.io/zone"] = f"zone-{zone}"
    told = {"lastHeartbeatTime": BORN, "lastTransitionTime": BORN}
    pressures = [{"type": kind, "status": "False", "reason": "KubeletHasNoPressure", "message": "kubelet has room", **told}
                 for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    node["status"] |= {
        "conditions": [*pressures, {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is ready",
                                    **told}],
        "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": node["metadata"]["name"]}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": simulated.PORT}},
        "nodeInfo": {"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "kwok", "osImage": "",
                     "operatingSystem": "linux", "architecture": "amd64", "containerRuntimeVersion": "kwok",
                     "kubeletVersion": "kwok", "kubeProxyVersion": ""}}
    return node


def running_pod(pod, serial):
    """A web server of some 4 KB."""
    environment = [{"name": f"SETTING_{which}", "value": f"a value of some length, number {which}"} for which in range(8)]
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1,
             "successThreshold": 1, "failureThreshold": 3}
    container = {
        "name": "main", "image": "registry.example.com/team/app:v1.2.3", "imagePullPolicy": "IfNotPresent", "env": environment,
        "resources": {"requests": {"cpu": pod.cpu, "memory": pod.memory}, "limits": {"memory": pod.memory}},
        "ports": [{"containerPort": 8080, "protocol": "TCP"}], "livenessProbe": probe, "readinessProbe": probe,
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app"}, {"name": "scratch", "mountPath": "/tmp"}],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
    spec = {
        "nodeName": pod.node, "containers": [container], "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst", "serviceAccountName": "default", "serviceAccount": "default", "securityContext": {},
        "automountServiceAccountToken": False, "schedulerName": "default-scheduler", "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority", "priority": 0,
        "tolerations": [{"key": "type", "operator": "Exists"},
                        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
        "volumes": [{"name": "config", "configMap": {"name": "app", "defaultMode": 420}}, {"name": "scratch", "emptyDir": {}}]}
    conditions = [{"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": BORN}
                  for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]
    labels = {"app.kubernetes.io/name": "app", "app.kubernetes.io/instance": pod.node, "pod-template-hash": "5d8f7c9b4"}
    written = {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": BORN,
               "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields(spec)}}
    told = {"name": "main", "image": container["image"], "imageID": f"{container['image']}@sha256:{'0' * 64}",
            "containerID": f"containerd://{serial:064x}", "ready": True, "started": True, "restartCount": 0,
            "state": {"running": {"startedAt": BORN}}, "lastState": {}}
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": pod.name, "namespace": OTHERS, "uid": identity(0x8002, serial), "creationTimestamp": BORN,
                         "labels": labels, "managedFields": [written]},
            "status": {"phase": "Running", "conditions": conditions, "hostIP": "10.77.0.1", "podIP": address(serial),
                       "podIPs": [{"ip": address(serial)}], "startTime": BORN, "qosClass": "Burstable",
                       "containerStatuses": [told]}}


def address(serial):
    """Of a pod; none of simulated.PODS."""
    return f"100.{64 + serial // 65536}.{serial // 256 % 256}.{serial % 256}"


def fields(thing):
    """The fields of an object as managedFields names them."""
    if not isinstance(thing, dict):
        return {}
    return {f"f:{name}": fields(value) for name, value in thing.items()}
