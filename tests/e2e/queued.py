"""An API server with our operator, which is told of Kueue, and jobs that queue: each of two servers of 3 cores and 1 GiB."""
import json
import os

import api_server
import fake_kubelets
import harness
from api_server import until

OPERATOR = os.path.join(os.path.dirname(harness.ATOLL), "atoll-operator")
if not os.access(OPERATOR, os.X_OK):
    harness.skip(f"{OPERATOR} is not built")


class Server(api_server.ApiServer):
    """Its nodes n1, n2, n3 are fake and have 4 cores each; the last two are labelled pool=gnn."""

    def __init__(self, resource=harness.ROOT / "manifests" / "crd" / "gnnjobs.atoll.dev.yaml"):
        """`resource`: the file that defines GNNJob."""
        super().__init__()
        self.expect("create", "-f", resource)
        self.until_defined()
        self.kubelets = fake_kubelets.FakeKubelets(self, ["n1", "n2", "n3"])
        self.expect("label", "node", "n2", "n3", "pool=gnn")

    def start(self, name, *command):
        """A program that ends with the test; its log is NAME.log in our folder."""
        return self._start(name, *command)

    def start_operator(self):
        self.operator = self.start("operator", "env", "POD_NAME=atoll-0", OPERATOR, f"--kubeconfig={self.verified_kubeconfig()}",
                   "--image=atoll/engine:1", "--metrics=127.0.0.1:0", "--operator-namespace=default", "--kueue=true", "--grace=5")

    def restart_operator(self):
        self.operator.terminate()
        self.operator.wait(timeout=30)
        self.start_operator()

    def apply(self, name, changes=None, **labels):
        """`changes`: of its spec, by paths."""
        job = harness.manifest({"dataset": {"name": "cora", "volume": {"persistentVolumeClaim": {"claimName": "datasets"}}},
                                "output": {"volume": {"persistentVolumeClaim": {"claimName": "results"}}},
                                "placement.ranksPerServer": 1, "resources": {"cpu": 3, "memory": "1Gi"}, **(changes or {})})
        job["metadata"] = {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "team", **labels}}
        self.expect("apply", "-f", "-", text=json.dumps(job))

    def condition(self, kind, name, what):
        conditions = self.get(kind, name).get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == what), {})

    def runs_in_attempt(self, name, attempt):
        """In one look: of two, the first could see an attempt that is over by the second."""
        status = self.get("gnn", name)["status"]
        return status["attempt"] == attempt and any(each["type"] == "Running" and each["status"] == "True" for each in status["conditions"])

    def wait(self, what, holds, seconds=60):
        try:
            until(what, seconds, holds)
        except harness.Failed as failure:
            logs = [path.read_text()[-2500:] for path in (self.folder / "operator.log", self.folder / "kueue.log") if path.exists()]
            told = self.expect("get", "gnn,workloads,pods", "-o", "yaml")[-6000:]
            raise harness.Failed("\n".join([f"{failure}:", told, *logs])) from failure

    def until_holds(self, name, what):
        self.wait(f"{name} to be {what}", lambda: self.condition("gnn", name, what).get("status") == "True")

    def until_suspended(self, name, reason):
        self.wait(f"{name} to be {reason}", lambda: self.condition("gnn", name, "Suspended").get("reason") == reason)

    def pods(self, name):
        found = self.get("pods", "-l", f"atoll.dev/job={name}")["items"]
        return {each["metadata"]["name"]: each for each in found}

    def worker_nodes(self, name):
        workers = [each for each in self.pods(name).values() if each["metadata"]["labels"]["atoll.dev/role"] == "worker"]
        return sorted(each["spec"]["nodeName"] for each in workers)
