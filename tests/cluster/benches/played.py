"""How kwok plays pods of training jobs: every pod runs and is Ready as soon as it is bound; a prepare pod has done its work at
once, and says what it found: by its log, and as its termination message where that is short. Nothing else ends, so that all of
a burst can run at the same time."""
import json
import random

import build
from control_plane import CP

API = "kwok.x-k8s.io/v1alpha1"
NEIGHBOURS = 12  # parts that a part of a graph borders on
SEED = 1
LONGEST_MESSAGE = 3500  # bytes that `atoll prepare` leaves as its pod's termination message
ENDED = """{{ $now := Now }}
containerStatuses:
{{ range .spec.containers }}
- {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: false, restartCount: 0, started: false,
   state: {terminated: {exitCode: 0, reason: Completed, message: MESSAGE, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}}
{{ end }}
phase: Succeeded
"""


def documents(spaces):
    """kwok's configuration. `spaces`: how many ranks the jobs of a namespace have, for their prepare pods to tell."""
    stages = build.sources("kwok", "sigs.k8s.io/kwok") / "kustomize/stage/pod/fast"
    kwoks_own = [(stages / f"pod-{name}.yaml").read_text() for name in ("ready", "delete")]
    return [*kwoks_own, *(json.dumps(of(*each)) for each in spaces.items() for of in (_prepare_ends, _log))]


def _prepare_ends(space, ranks):
    found = json.dumps(prepared(ranks))
    message = json.dumps(found if len(found) <= LONGEST_MESSAGE else "")
    rules = [("Running", ".status.phase"), ("prepare", '.metadata.labels["atoll.dev/role"]'), (space, ".metadata.namespace")]
    chosen = [{"key": key, "operator": "In", "values": [value]} for value, key in rules]
    alive = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
    return {"apiVersion": API, "kind": "Stage", "metadata": {"name": f"prepare-ends-{space}"}, "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"}, "selector": {"matchExpressions": [alive, *chosen]},
        "next": {"statusTemplate": ENDED.replace("MESSAGE", message)}}}


def _log(space, ranks):
    name = f"prepare-{space}.log"
    (CP.bed / name).write_text(f"2026-03-01T12:00:00.000000000Z stdout F {json.dumps(prepared(ranks))}\n")
    return {"apiVersion": API, "kind": "ClusterLogs", "metadata": {"name": f"prepare-{space}"}, "spec": {
        "selector": {"matchNamespaces": [space]},
        "logs": [{"containers": ["engine"], "logsFile": f"/var/lib/bed/{name}"}]}}


def prepared(ranks):
    """A cut in which each part borders on a few others, most of them near it."""
    draw = random.Random(SEED)
    flows = []
    for rank in range(ranks):
        near = {(rank + round(draw.gauss(0, NEIGHBOURS))) % ranks for _ in range(NEIGHBOURS)} - {rank}
        flows += [[rank, other, draw.randrange(10_000, 1_000_000)] for other in sorted(near)]
    return {"preparedChecksum": "played", "ranks": ranks, "flows": flows}
