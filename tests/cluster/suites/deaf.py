"""An operator whose polls nobody answers: what it doesn't hear it holds against no job."""
import time

import layout
from faults import CHANGES
from jobs import LONG as MINUTE, GnnJob, nothing_remains
from security import METRICS

DEADLINE = 15  # seconds without an epoch, for a job that is heard
TABLE = "deaf_operator"
RULES = f"""table inet {TABLE} {{
  chain forward {{ type filter hook forward priority filter; policy accept; tcp dport {METRICS} drop; }}
}}
"""


class Dropped:
    """Every packet to the metrics port of a pod, from __enter__ to __exit__."""

    def __enter__(self):
        self._load(RULES)

    def __exit__(self, *_):
        self._load(f"delete table inet {TABLE}\n")

    @staticmethod
    def _load(rules):
        for node in layout.saved().all_nodes():
            node.machine.run("nft", "-f", "-", input=rules)


def reason(job):
    return job.condition("Running")["reason"]


def epoch(job):
    return job.status().get("progress", {}).get("epoch", 0)


def a_job_of_which_nothing_is_heard_is_left_alone():
    job = GnnJob("unheard", MINUTE, CHANGES | {"training.epochs": 4000, "runPolicy.progressDeadlineSeconds": DEADLINE})
    job.apply().until("Running", 120)
    job.wait("to have its progress read by the operator", 60, lambda: epoch(job) > 0)
    with Dropped():
        since, before = time.monotonic(), epoch(job)
        job.wait("to be said to be unheard", 90, lambda: reason(job) == "Unheard")
        time.sleep(max(0.0, since + 3 * DEADLINE - time.monotonic()))
        status = job.status()
        assert not status.get("restarts") and status["attempt"] == 1, f"no restart: {status}"
        assert job.holds("Running") and "network policy" in job.condition("Running")["message"], job.condition("Running")
        trained = len(job.losses())
        assert trained > before, f"ranks that train on, not {trained} epochs"
    job.wait("to be heard again", 30, lambda: reason(job) == "Training" and epoch(job) >= trained)
    assert not job.status().get("restarts"), job.status()["restarts"]
    job.delete()
    nothing_remains(job)


SHORT = []
LONG = [a_job_of_which_nothing_is_heard_is_left_alone]
