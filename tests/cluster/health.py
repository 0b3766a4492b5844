"""Whether a bed is whole, and what of it isn't."""
import json

import control_plane
import fabric
import layout
import node as nodes
from machine import Machine
from place import CACHE, FOLDER, BedError


def ready_nodes():
    """Names of nodes that the API server counts as Ready."""
    found = json.loads(control_plane.kubectl("get", "nodes", "--output", "json"))["items"]
    is_ready = lambda node: any(condition["type"] == "Ready" and condition["status"] == "True"
                                for condition in node["status"].get("conditions", []))
    return {node["metadata"]["name"] for node in found if is_ready(node)}


def all_ready(plan):
    return ready_nodes() >= _names(plan)


def _names(plan):
    return {node.name for node in plan.all_nodes()}


def _daemons(plan):
    """(machine, daemon) of all that runs in a whole bed."""
    yield from ((control_plane.CP, name) for name in control_plane.DAEMONS)
    yield from ((node.machine, name) for node in plan.all_nodes() for name in nodes.DAEMONS)


def check_daemons(plan):
    """Complains when one has ended, with the end of its log."""
    for machine, daemon in _daemons(plan):
        machine.check(daemon)


def is_whole(plan):
    try:
        daemons_run = all(machine.runs(name) for machine, name in _daemons(plan))
        return bool(fabric.FABRIC.init()) and daemons_run and control_plane.is_ready() and all_ready(plan)
    except BedError:
        return False


def status():
    """Prints what runs; the exit status."""
    plan = layout.saved()
    if not plan:
        print("no bed is up")
        return 1
    states = {}
    for machine, name in _daemons(plan):
        states.setdefault(machine.name, []).append(f"{name} {'runs' if machine.runs(name) else 'DOWN'}")
    for name, daemons in ({"fabric": ["switches"]} | states).items():
        print(f"{name:6} {'on ' if Machine(name).init() else 'OFF'} {', '.join(daemons)}")
    if control_plane.CP.init() and control_plane.is_ready():
        ready = ready_nodes()
        simulated = len(ready - _names(plan))
        print(f"Ready: {', '.join(sorted(ready & _names(plan))) or 'no node'}" +
              (f" and {simulated} simulated nodes" if simulated else ""))
    whole = is_whole(plan)
    print(f"folder {FOLDER}, cache {CACHE}: {'all runs' if whole else 'NOT all runs: bed up mends it'}")
    return 0 if whole else 1
