"""A real Prometheus in the bed: it finds what charts/atoll-monitoring annotates, evaluates its rules, and answers queries."""
import json
import pathlib
import shutil
import tempfile
import urllib.parse

import images
import layout
import stage
from control_plane import kubectl
from place import REPOSITORY, BedError
from pods import apply
from process import run

IMAGE = "atoll.dev/bed/prometheus:1"
SPACE = "monitoring"
FILE = f"FROM {images.BASE}\nCOPY prometheus /usr/bin/prometheus\nUSER 65534:65534\nENTRYPOINT [\"prometheus\"]\n"

# As in Prometheus' own example: endpoints of Services that carry the annotations.
SCRAPE = {
    "job_name": "annotated", "kubernetes_sd_configs": [{"role": "endpoints"}],
    "relabel_configs": [
        {"source_labels": ["__meta_kubernetes_service_annotation_prometheus_io_scrape"], "action": "keep", "regex": "true"},
        {"source_labels": ["__address__", "__meta_kubernetes_service_annotation_prometheus_io_port"], "action": "replace",
         "regex": r"([^:]+)(?::\d+)?;(\d+)", "replacement": "$1:$2", "target_label": "__address__"},
        {"action": "labelmap", "regex": "__meta_kubernetes_service_label_(.+)"},
        {"source_labels": ["__meta_kubernetes_namespace"], "target_label": "namespace"},
        {"source_labels": ["__meta_kubernetes_pod_name"], "target_label": "pod"}]}


def make_image():
    if images.archive_of(IMAGE).exists():
        return
    with tempfile.TemporaryDirectory(prefix="atoll-prometheus.") as folder:
        run([REPOSITORY / "docker/unpack-package", "prometheus", f"{folder}/debian"], seconds=300)
        shutil.copy(f"{folder}/debian/usr/bin/prometheus", folder)
        (pathlib.Path(folder) / "Containerfile").write_text(FILE)
        images.build(IMAGE, f"{folder}/Containerfile", folder)


def start():
    """Ready when it returns; rules are those of the chart that is installed."""
    make_image()
    images.load([images.archive_of(IMAGE)], layout.saved().all_nodes())
    rules = json.loads(kubectl("get", "configmaps", "--namespace", stage.SYSTEM, "--output", "json", "--selector",
                               "app.kubernetes.io/name=atoll-monitoring"))["items"]
    text = next(text for each in rules for name, text in each["data"].items() if name.endswith((".yaml", ".yml")))
    configuration = {"global": {"scrape_interval": "5s", "evaluation_interval": "5s"},
                     "rule_files": ["/etc/prometheus/rules.yaml"], "scrape_configs": [SCRAPE]}
    apply(*permissions(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "prometheus", "namespace": SPACE},
                           "data": {"prometheus.yml": json.dumps(configuration), "rules.yaml": text}}, pod())
    kubectl("wait", "--namespace", SPACE, "--for=condition=Ready", "pod/prometheus", "--timeout=60s", seconds=70)


def permissions():
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "prometheus", "namespace": SPACE}}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "prometheus"},
            "rules": [{"apiGroups": [""], "resources": ["services", "endpoints", "pods"],
                       "verbs": ["get", "list", "watch"]}]}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
               "metadata": {"name": "prometheus"},
               "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "prometheus"},
               "subjects": [{"kind": "ServiceAccount", "name": "prometheus", "namespace": SPACE}]}
    return account, role, binding


def pod():
    container = {"name": "prometheus", "image": IMAGE, "imagePullPolicy": "Never",
                 "args": ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/data",
                          "--web.listen-address=:9090"],
                 "readinessProbe": {"httpGet": {"path": "/-/ready", "port": 9090}, "periodSeconds": 1},
                 "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                                     "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
                 "volumeMounts": [{"name": "configuration", "mountPath": "/etc/prometheus"},
                                  {"name": "data", "mountPath": "/data"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "prometheus", "namespace": SPACE}, "spec": {
        "serviceAccountName": "prometheus", "terminationGracePeriodSeconds": 0, "containers": [container],
        "securityContext": {"fsGroup": 65534},
        "volumes": [{"name": "configuration", "configMap": {"name": "prometheus"}}, {"name": "data", "emptyDir": {}}]}}


def query(expression):
    """[(labels, value)]"""
    path = f"/api/v1/namespaces/{SPACE}/pods/prometheus:9090/proxy/api/v1/query?query={urllib.parse.quote(expression)}"
    answer = json.loads(kubectl("get", "--raw", path))
    if answer["status"] != "success":
        raise BedError(f"{expression}: {answer}")
    return [(each["metric"], float(each["value"][1])) for each in answer["data"]["result"]]


def firing():
    """Names of the alerts that fire now."""
    path = f"/api/v1/namespaces/{SPACE}/pods/prometheus:9090/proxy/api/v1/alerts"
    alerts = json.loads(kubectl("get", "--raw", path))["data"]["alerts"]
    return {each["labels"]["alertname"] for each in alerts if each["state"] == "firing"}
