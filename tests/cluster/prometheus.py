"""A real Prometheus beside the control plane: it scrapes what charts/atoll-monitoring annotates, evaluates its rules, and answers
queries. Debian's is built without Kubernetes discovery, so a thread here does that part: endpoints of annotated Services."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import threading
import urllib.parse

import stage
from control_plane import CP, inside, kubectl
from place import CACHE, REPOSITORY, BedError, write_whole
from process import run, until

PORT = 9601  # in the control plane's network
EVERY = 2    # seconds between two looks at Services


class Prometheus:
    """Ready from __enter__ to __exit__; its rules are those of the chart that is installed."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="atoll-prometheus."))
        self.ended = threading.Event()
        self._configure()
        self._discover()
        self.follower = threading.Thread(target=self._follow)
        self.follower.start()
        command, environment = inside([_program(), f"--config.file={self.folder}/prometheus.yml",
                                       f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{PORT}"])
        with open(CP.log("prometheus"), "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        until("Prometheus to be ready", 60, self._is_ready, CP.log("prometheus"))
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.follower.join(timeout=30)
        self.process.kill()
        self.process.wait(timeout=10)
        shutil.rmtree(self.folder)

    def query(self, expression):
        """[(labels, value)]"""
        answer = self._get(f"query?query={urllib.parse.quote(expression)}")
        return [(each["metric"], float(each["value"][1])) for each in answer["result"]]

    def firing(self):
        """Names of the alerts that fire now."""
        return {each["labels"]["alertname"] for each in self._get("alerts")["alerts"] if each["state"] == "firing"}

    def _get(self, path):
        command, environment = inside(["curl", "-s", f"http://127.0.0.1:{PORT}/api/v1/{path}"])
        answer = json.loads(run(command, env=environment))
        if answer["status"] != "success":
            raise BedError(f"{path}: {answer}")
        return answer["data"]

    def _is_ready(self):
        if self.process.poll() is not None:
            raise BedError(f"Prometheus ended: see {CP.log('prometheus')}")
        try:
            return self.query("vector(1)")
        except (BedError, ValueError):
            return False

    def _configure(self):
        maps = json.loads(kubectl("get", "configmaps", "--namespace", stage.SYSTEM, "--output", "json", "--selector",
                                  "app.kubernetes.io/name=atoll-monitoring"))["items"]
        rules = next(text for each in maps for name, text in each["data"].items() if name.endswith((".yaml", ".yml")))
        (self.folder / "rules.yaml").write_text(rules)
        scrape = {"job_name": "annotated", "file_sd_configs": [{"files": [f"{self.folder}/targets.json"]}]}
        configuration = {"global": {"scrape_interval": "5s", "evaluation_interval": "5s"},
                         "rule_files": [f"{self.folder}/rules.yaml"], "scrape_configs": [scrape]}
        (self.folder / "prometheus.yml").write_text(json.dumps(configuration))

    def _follow(self):
        while not self.ended.wait(EVERY):
            try:
                self._discover()
            except BedError:
                pass  # the next look may succeed, and a target that is missing fails the test

    def _discover(self):
        write_whole(self.folder / "targets.json", json.dumps(list(targets())))


def targets():
    """As in Prometheus' own example for Kubernetes: endpoints of Services that carry the annotations."""
    services, endpoints = (json.loads(kubectl("get", kind, "--all-namespaces", "--output", "json"))["items"]
                           for kind in ("services", "endpoints"))
    ports = {}
    for each in services:
        marks = each["metadata"].get("annotations", {})
        if marks.get("prometheus.io/scrape") == "true":
            ports[each["metadata"]["namespace"], each["metadata"]["name"]] = marks["prometheus.io/port"]
    for each in endpoints:
        space, name = each["metadata"]["namespace"], each["metadata"]["name"]
        addresses = [address for subset in each.get("subsets", []) for address in subset.get("addresses", [])]
        if (space, name) in ports:
            for address in addresses:
                yield {"targets": [f"{address['ip']}:{ports[space, name]}"],
                       "labels": {"namespace": space, "pod": address.get("targetRef", {}).get("name", "")}}


def _program():
    folder = CACHE / "debian/prometheus"
    run([REPOSITORY / "docker/unpack-package", "prometheus", folder], seconds=300)
    return folder / "usr/bin/prometheus"
