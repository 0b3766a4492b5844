"""Kueue itself beside an API server: what its chart installs, with the program on this machine in place of the pod. The API server
reaches its webhooks by a Service that is another name of localhost."""
import base64
import json
import subprocess

import api_server
import harness
from api_server import free_ports, until

try:
    import yaml
except ImportError:
    harness.skip("PyYAML is not installed (python3-yaml)")

PROGRAM, HELM = api_server.program("kueue"), api_server.program("helm")
SPACE, SERVICE, SECRET = "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert"
INSTALLED = ("CustomResourceDefinition", "Secret", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def start(server, ports=None):
    """Returns once its webhooks answer. `server`: an api_server.ApiServer, or what does as much; `ports`: for webhooks and health."""
    webhooks, health = ports or free_ports(2)
    certificates = server.folder / "kueue-certificates"
    certificates.mkdir()
    server.expect("create", "namespace", SPACE)
    server.expect("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects(webhooks))}))
    config = server.folder / "kueue.json"
    config.write_text(json.dumps(_configuration(webhooks, health, certificates)), encoding="utf-8")
    server.start("kueue", "env", f"KUBECONFIG={server.verified_kubeconfig()}", PROGRAM, f"--config={config}")
    _mount(server, certificates)
    until("Kueue to be ready", 90, lambda: server.answers(f"http://127.0.0.1:{health}/readyz"))


def objects(port):
    """What its chart makes, but what only its pod needs."""
    chart = api_server.build.sources("kueue", "sigs.k8s.io/kueue") / "charts" / "kueue"
    rendered = subprocess.run([HELM, "template", "kueue", chart, "--namespace", SPACE], check=True, capture_output=True, text=True)
    for each in yaml.load_all(rendered.stdout, yaml.CSafeLoader):
        if each and each["kind"] in INSTALLED:
            for client in _webhook_clients(each):
                client["service"]["port"] = port
            yield each
    yield {"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE, "namespace": SPACE},
           "spec": {"type": "ExternalName", "externalName": "localhost"}}


def _webhook_clients(found):
    conversion = found.get("spec", {}).get("conversion", {}).get("webhook")
    return [each["clientConfig"] for each in found.get("webhooks", []) + [conversion] if each]


def _configuration(webhooks, health, certificates):
    return {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "namespace": SPACE,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"}, "metrics": {"bindAddress": "0"},
            "webhook": {"host": "127.0.0.1", "port": webhooks, "certDir": str(certificates)},
            "internalCertManagement": {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET},
            "leaderElection": {"leaderElect": False}, "integrations": {"frameworks": ["batch/job"]},
            "featureGates": {"VisibilityOnDemand": False}}


def _mount(server, certificates):
    """As a kubelet would: the Secret's keys as files, once Kueue has written it."""
    data = {}

    def is_written():
        data.update(server.get("secret", SECRET, "-n", SPACE).get("data", {}))
        return data
    until("Kueue to make its certificates", 60, is_written)
    for name, text in data.items():
        (certificates / name).write_bytes(base64.b64decode(text))
