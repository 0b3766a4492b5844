"""The machine `cp`: etcd, API server, controller manager and scheduler. Other machines reach it at
its layout's address; this machine enters its network (`bed run`, `bed kubectl`), so that nothing listens outside
the bed."""
import json
import os

import build
import fabric
import pki
from machine import Machine
from process import run, until

CP = Machine("cp")
PKI = CP.bed / "pki"
KUBECONFIG = CP.bed / "admin.kubeconfig"
DAEMONS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
# A thousand simulated nodes must not wait for a throttle of our own.
QUICK = ["--kube-api-qps=2000", "--kube-api-burst=2000"]

ETCD = ["etcd", "--data-dir=/var/lib/etcd", "--listen-client-urls=http://127.0.0.1:2379",
        "--advertise-client-urls=http://127.0.0.1:2379", "--listen-peer-urls=http://127.0.0.1:2380",
        "--quota-backend-bytes=4294967296", "--log-level=warn",
        "--unsafe-no-fsync"]  # a bed that loses power is thrown away

AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "None", "userGroups": ["system:nodes", "system:serviceaccounts:kube-system"]},
    {"level": "None", "users": ["system:apiserver", "system:kube-proxy", "system:kube-scheduler",
                                "system:kube-controller-manager", "system:anonymous"]},
    {"level": "Metadata"}]}


def start(layout, before_api_server=None):
    """`before_api_server`: what is done while etcd runs and nobody reads it yet."""
    CP.boot()
    fabric.plug_in_control_plane(CP, layout)
    pki.make(PKI, layout.all_nodes())
    (CP.bed / "audit.json").write_text(json.dumps(AUDIT))
    server = layout.addresses.server
    for user in ("kube-controller-manager", "kube-scheduler"):
        (CP.bed / f"{user}.kubeconfig").write_text(pki.kubeconfig(PKI, user, server))
    KUBECONFIG.write_text(pki.kubeconfig(PKI, "admin", server))
    KUBECONFIG.chmod(0o600)  # helm says so otherwise, each time
    CP.start("etcd", ETCD)
    if before_api_server and not CP.runs("kube-apiserver"):
        before_api_server()
    CP.start("kube-apiserver", _api_server(layout.addresses))
    patience = 240 if before_api_server else 60  # it reads all that there is first
    until("the API server to be ready", patience, lambda: CP.check("etcd") or CP.check("kube-apiserver") or is_ready(),
          CP.log("kube-apiserver"))
    CP.start("kube-controller-manager", _controller_manager(layout))
    CP.start("kube-scheduler", ["kube-scheduler", "--kubeconfig=/var/lib/bed/kube-scheduler.kubeconfig",
                                "--leader-elect=false", "--bind-address=127.0.0.1", *QUICK])


def is_ready():
    answer = CP.run("sh", "-c", "kubectl --kubeconfig /var/lib/bed/admin.kubeconfig --request-timeout 5s "
                    "get --raw /readyz 2>&1 || true", seconds=30)
    return answer.strip() == "ok"


def _api_server(addresses):
    keys = "/var/lib/bed/pki"
    return ["kube-apiserver", f"--advertise-address={addresses.api_server}", "--secure-port=6443",
            "--etcd-servers=http://127.0.0.1:2379", f"--service-cluster-ip-range={addresses.services}",
            "--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
            f"--token-auth-file={keys}/tokens.csv", f"--client-ca-file={keys}/ca.crt",
            f"--tls-cert-file={keys}/api-server.crt", f"--tls-private-key-file={keys}/api-server.key",
            f"--kubelet-client-certificate={keys}/api-server-as-client.crt",
            f"--kubelet-client-key={keys}/api-server-as-client.key", "--kubelet-preferred-address-types=InternalIP",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={keys}/service-accounts.key",
            f"--service-account-signing-key-file={keys}/service-accounts.key",
            "--audit-policy-file=/var/lib/bed/audit.json", "--audit-log-path=/var/log/audit.log"]


def _controller_manager(layout):
    silence = [] if layout.watches_nodes else ["--controllers=*,-node-lifecycle-controller,-ttl-controller"]
    return ["kube-controller-manager", "--kubeconfig=/var/lib/bed/kube-controller-manager.kubeconfig",
            "--service-account-private-key-file=/var/lib/bed/pki/service-accounts.key",
            "--root-ca-file=/var/lib/bed/pki/ca.crt", "--use-service-account-credentials=true",
            "--leader-elect=false", "--bind-address=127.0.0.1", "--node-monitor-period=1s",
            f"--node-monitor-grace-period={layout.node_grace}s", *silence, *QUICK]


def inside(command):
    """(command line, environment) that runs `command` here, but in the control plane's network: with this machine's
    files and programs, and kubectl, helm and their like finding the cluster."""
    built = {str(build.folder_of(module)) for module in build.modules().values()}
    path = ":".join(sorted(built) + [os.environ.get("PATH", "/usr/bin:/bin")])
    return CP.enter_network(command), dict(os.environ, PATH=path, KUBECONFIG=str(KUBECONFIG))


def kubectl(*words, seconds=60, **options):
    command, environment = inside(["kubectl", *words])
    return run(command, seconds, env=environment, **options)
