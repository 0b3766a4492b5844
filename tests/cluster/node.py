"""A node: the machine's containerd, kubelet and kube-proxy."""
import json

import cgroup
import fabric
import pki
from control_plane import PKI

DAEMONS = ("containerd", "kubelet", "kube-proxy")
PAUSE = "atoll.dev/bed/pause:1"
CONTAINERD = f"""# Written by the bed.
version = 4
disabled_plugins = ["io.containerd.internal.v1.opt"]  # it would make /opt/containerd among this machine's files
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  # Where CAP_SYS_RESOURCE is missing, runc dies on lowering oom_score_adj ("can't get final child's PID from
  # pipe").
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/var/lib/bed/cni"
"""


def start(node, layout):
    """Everything but the wait for Ready, so that nodes start side by side."""
    machine = node.machine
    machine.boot()
    fabric.plug_in(node, layout)
    _write_configuration(node)
    cgroup.create(node.name)
    machine.start("containerd", ["containerd", "--config", "/var/lib/bed/containerd.toml"])


def start_kubelet(node):
    """Once containerd has the pods' pause image."""
    labels = ",".join(f"{key}={value}" for key, value in node.labels.items())
    node.machine.start("kubelet", [
        "kubelet", "--config=/var/lib/bed/kubelet.json", "--kubeconfig=/var/lib/bed/kubelet.kubeconfig",
        f"--hostname-override={node.name}", f"--node-ip={node.address}", f"--node-labels={labels}"])
    node.machine.start("kube-proxy", [
        "kube-proxy", "--kubeconfig=/var/lib/bed/kube-proxy.kubeconfig", "--proxy-mode=nftables",
        f"--cluster-cidr={node.family.pod_network}", f"--hostname-override={node.name}",
        # Only the machine's first network namespace may set the size of the connection table.
        "--conntrack-max-per-core=0", "--conntrack-min=0", "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0"])


def _write_configuration(node):
    bed = node.machine.bed
    (bed / "cni").mkdir(exist_ok=True)
    files = {"containerd.toml": CONTAINERD, "kubelet.json": json.dumps(_kubelet(node), indent=2),
             "cni/10-bed.conflist": json.dumps(_pod_network(node), indent=2), "ca.crt": (PKI / "ca.crt").read_text(),
             "kubelet.kubeconfig": pki.kubeconfig(PKI, node.name, node.family.server),
             "kube-proxy.kubeconfig": pki.kubeconfig(PKI, "kube-proxy", node.family.server)}
    for name, text in files.items():
        (bed / name).write_text(text)


def _kubelet(node):
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{cgroup.ROOT}/{node.name}",
        "failSwapOn": False, "failCgroupV1": False, "resolvConf": "", "makeIPTablesUtilChains": False,
        "authentication": {"x509": {"clientCAFile": "/var/lib/bed/ca.crt"}, "anonymous": {"enabled": False}},
        "authorization": {"mode": "Webhook"},
        # Nodes share one disk whose filling isn't theirs to mend, and an image thrown away couldn't be pulled
        # again.
        "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        # Kubelet measures volumes as seldom as once a minute; a pod that outgrows its own would train to its end before.
        "volumeStatsAggPeriod": "5s",
        # A sign of life every 2 s (a quarter of the lease): a node's death shows soon, a slow moment doesn't.
        "nodeLeaseDurationSeconds": 8, "nodeStatusUpdateFrequency": "5s",
    }


def _pod_network(node):
    # Point to point, not a bridge: what two pods of a node say to each other passes the node's packet filter
    # like everything else, so services and policies work. Leases of addresses lie in /run: they don't outlive
    # the machine.
    addresses = {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": node.pods}]],
                 "routes": [{"dst": node.family.everywhere}]}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": False, "ipam": addresses}]}
