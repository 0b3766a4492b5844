"""A cluster that grows by itself for a gang that waits: the real Karpenter decides, by the placeholders that the operator makes."""
import time

import karpenter
import played
from jobs import CORA, SPACE, GnnJob, nothing_remains
from place import BedError
from process import until
from stage import install_operator

SERVERS = 6
# Each fills more than half of a node; only nodes that kwok plays can be used.
GANG = {"placement.ranks": SERVERS, "placement.ranksPerServer": 1, "resources.cpu": 20, "template": {"spec": {
    "nodeSelector": {"type": "kwok"}, "tolerations": [{"key": "type", "operator": "Exists"}]}}}


def two_nodes_grow_to_six():
    """Without a hand; and what asked for them is gone once the gang stands."""
    with karpenter.growing(2, played.documents({SPACE: SERVERS})):
        install_operator(**{"scaleUp.by": "Placeholders"})
        job = GnnJob("grows", CORA, GANG)
        try:
            assert len(karpenter.nodes()) == 2, karpenter.nodes()
            job.apply()
            job.wait("to ask for nodes", 90, lambda: job.holds("NodesRequested"))
            job.wait("to say what it asks for", 30, lambda: f"nodes for {SERVERS} servers" in job.condition("Placed")["message"])
            job.until("Running", 240)
            stands_alone(job)
            asks_for_no_more(job)
        except (AssertionError, BedError) as error:
            raise BedError(f"{error}\nKarpenter said\n{karpenter.log()}") from error
        finally:
            job.delete()
            install_operator()
        nothing_remains(job)


def stands_alone(job):
    assert not job.pods("placeholder"), "no placeholder is left beside a gang that has places"
    used = {each["spec"]["nodeName"] for each in job.pods("worker")}
    assert len(used) == SERVERS, f"a node for each server, not {used}"
    assert used <= set(karpenter.nodes()), f"{used} of {karpenter.nodes()}"
    assert not job.holds("NodesRequested"), job.condition("NodesRequested")


def asks_for_no_more(job):
    until("as many nodes as the gang needs", 30, lambda: len(karpenter.nodes()) == SERVERS)
    time.sleep(20)  # Karpenter looks at what waits within ten seconds
    assert len(karpenter.nodes()) == SERVERS, f"no more nodes than {SERVERS}, not {karpenter.nodes()}"
    assert not job.status().get("restarts"), job.status()["restarts"]


SHORT = []
LONG = [two_nodes_grow_to_six]
