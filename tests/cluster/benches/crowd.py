"""A bed whose nodes and others' pods are there before anything starts, and the operator on it. No node's silence is looked for, so
that nobody need renew the leases of thousands."""
import contextlib
import json
import pathlib
import tempfile

import life
import played
import preload
import simulated
from contestants import CLAIM
from control_plane import kubectl
from place import BedError
from process import until
from stage import make_volume

LEVELS = ("topology.kubernetes.io/zone", "network.topology.nvidia.com/block", "kubernetes.io/hostname")


@contextlib.contextmanager
def bed(cluster, spaces):
    """`spaces`: namespaces of jobs, and how many ranks each of them has."""
    try:
        life.up({"nodes": 1, "racks": 1, "node_grace": simulated.GRACE, "watches_nodes": False}, cluster.write)
        simulated.play(played.documents(spaces), 0)
        simulated.until_ready(cluster.nodes)
        expect_pods(cluster.count_pods())
        for space in (preload.OTHERS, *spaces):
            kubectl("create", "namespace", space)
        for space in spaces:
            make_volume(CLAIM, space)
        for space in (preload.OTHERS, *spaces):
            until(f"pods to be allowed in {space}", 60, lambda: "default" in kubectl("get", "serviceaccounts", "--namespace", space))
        yield
    finally:
        life.down()


def expect_pods(count):
    """Asked for by a page of one, which says how many more there are."""
    page = json.loads(kubectl("get", "--raw", f"/api/v1/namespaces/{preload.OTHERS}/pods?limit=1", seconds=120))
    found = len(page["items"]) + page["metadata"].get("remainingItemCount", 0)
    if found != count:
        raise BedError(f"{count} pods of others were written, and the API server has {found}")


@contextlib.contextmanager
def running(contestant):
    """The operator, from the bed's rest on."""
    with tempfile.TemporaryDirectory(prefix="atoll-crowd.") as folder:
        program = contestant.start(pathlib.Path(folder))
        try:
            yield program
        finally:
            program.end()


def figure(name, measured, most=None, unit=""):
    """A line of the table of goals. `most`: the goal; None: told, and not judged. `measured` None: there was nothing to measure."""
    return {"figure": name, "measured": measured, "unit": unit, "most": most}
