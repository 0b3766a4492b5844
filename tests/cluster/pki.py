"""Keys of the cluster: an authority, the API server's certificate and its identity towards kubelets, the key
that signs service accounts' tokens; everybody else has a token from a file."""
import json
import secrets

from layout import FAMILIES
from place import write_whole
from process import run

USERS = {  # name of the token: (user, group)
    "admin": ("admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
    "kube-proxy": ("system:kube-proxy", ""),
}
ADDRESSES = ["127.0.0.1", *(address for each in FAMILIES.values() for address in (each.api_server, each.kubernetes))]
NAMES = ",".join([*(f"IP:{address}" for address in ADDRESSES), "DNS:kubernetes", "DNS:kubernetes.default",
                  "DNS:kubernetes.default.svc", "DNS:kubernetes.default.svc.cluster.local"])


def make(folder, nodes):
    """Fills the folder, unless it is full."""
    if (folder / "tokens.csv").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    run(["openssl", "genrsa", "-out", folder / "service-accounts.key", "2048"])
    run(["openssl", "req", "-x509", *_NEW_KEY, "-subj", "/CN=atoll-bed", "-days", "3650",
         "-keyout", folder / "ca.key", "-out", folder / "ca.crt"])
    _certificate(folder, "api-server", "/CN=kube-apiserver", f"subjectAltName={NAMES}\nextendedKeyUsage=serverAuth\n")
    _certificate(folder, "api-server-as-client", "/O=system:masters/CN=kube-apiserver",
                 "extendedKeyUsage=clientAuth\n")
    users = USERS | {node.name: (f"system:node:{node.name}", "system:nodes") for node in nodes}
    lines = [f'{secrets.token_hex(16)},{user},{name},"{group}"\n' for name, (user, group) in users.items()]
    write_whole(folder / "tokens.csv", "".join(lines))  # last: it says that all is there


_NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def _certificate(folder, name, subject, extensions):
    key, request, certificate, wishes = (folder / f"{name}.{kind}" for kind in ("key", "csr", "crt", "ext"))
    wishes.write_text(extensions)
    run(["openssl", "req", *_NEW_KEY, "-subj", subject, "-keyout", key, "-out", request])
    run(["openssl", "x509", "-req", "-in", request, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key",
         "-CAcreateserial", "-days", "3650", "-extfile", wishes, "-out", certificate])


def kubeconfig(folder, name, server):
    """What `name` of USERS, or a node, reaches the API server with, at the URL `server`."""
    tokens = {line.split(",")[2]: line.split(",")[0] for line in (folder / "tokens.csv").read_text().splitlines()}
    authority = run(["base64", "-w0", folder / "ca.crt"])
    cluster = {"server": server, "certificate-authority-data": authority}
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "bed",
        "clusters": [{"name": "bed", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": tokens[name]}}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": name}}],
    }, indent=2) + "\n"
