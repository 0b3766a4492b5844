"""Kubeflow's mpi-operator on the bed, as it is shipped: its resource from the sources that it was built of, the program
itself on the control plane's machine."""
import contextlib

import build
from control_plane import CP, kubectl
from machine import program
from process import until
from stage import install_operator

NAME, MODULE = "mpi-operator", "github.com/kubeflow/mpi-operator"
RESOURCE = "manifests/base/kubeflow.org_mpijobs.yaml"


@contextlib.contextmanager
def beside_ours():
    """While it runs, atoll-operator is told that MPIJobs are there; both end with it."""
    build.build([NAME])
    resource = build.sources(NAME, MODULE) / RESOURCE
    kubectl("apply", "--server-side", "--filename", resource)
    until("mpi-operator's resource to be served", 30, lambda: "mpijobs" in kubectl("api-resources", "--api-group=kubeflow.org"))
    try:
        CP.start(NAME, ["env", "KUBECONFIG=/var/lib/bed/admin.kubeconfig",
                        program(NAME), "--lock-namespace=default"])
        until("mpi-operator to lead", 60, lambda: CP.check(NAME) or _leads(), CP.log(NAME))
        install_operator(**{"mpiJobs.enabled": "true"})
        yield
    finally:
        CP.kill(NAME)
        install_operator()
        kubectl("delete", "--filename", resource, "--timeout=60s", seconds=70)


def _leads():
    return kubectl("get", "lease", NAME, "--ignore-not-found", "--output", "jsonpath={.spec.holderIdentity}")


def log():
    return CP.log(NAME).read_text()[-4000:]
