"""Up and down: a bed's life. `up` makes sure of each part in turn, so it also mends a bed that lost some."""
import concurrent.futures
import subprocess
import sys
import time

import build
import cgroup
import control_plane
import fabric
import health
import holder
import images
import layout
import node as nodes
from machine import Machine
from place import FOLDER, BedError
from process import run, until


def current():
    found = layout.saved()
    if not found:
        raise BedError("no bed is up: tests/cluster/bed up")
    return found


def machine(name):
    known = ["fabric", "cp", *(node.name for node in current().all_nodes())]
    if name not in known:
        raise BedError(f"no machine named {name}; there are {', '.join(known)}")
    return Machine(name)


def up(wishes, before_api_server=None):
    """Brings up a bed with these values of Layout's fields. `before_api_server`: as control_plane.start() has it."""
    began = time.monotonic()
    build.build_ours()
    build.build(build.of_a_bed())
    with holder.changing("up"):
        plan = _planned(wishes)
        if not health.is_whole(plan):
            _bring_up(plan, before_api_server)
    say(f"up after {time.monotonic() - began:.1f} s: {plan.nodes} nodes in {plan.racks} racks; "
        "tests/cluster/bed kubectl get nodes")


def _planned(wishes):
    found = layout.saved()
    if not found:
        plan = layout.Layout(**wishes)
        plan.check()
        FOLDER.mkdir(parents=True, exist_ok=True)
        plan.save()
        return plan
    for name, value in wishes.items():
        if getattr(found, name) != value:
            raise BedError(f"the bed that is up has {name} {getattr(found, name)}, not {value}: take it down first "
                           "(tests/cluster/bed down)")
    return found


def _bring_up(plan, before_api_server):
    pause = images.make_pause()
    fabric.build(plan)
    say("starting the control plane")
    control_plane.start(plan, before_api_server)
    say("starting the nodes")
    for node in plan.all_nodes():
        nodes.start(node, plan)
    for node in plan.all_nodes():
        _await_containerd(node)
        images.load([pause], [node])
        nodes.start_kubelet(node)
    until("the nodes to be Ready", 120, lambda: health.check_daemons(plan) or health.all_ready(plan),
          FOLDER / "n*/log/kubelet.log")
    until("pods to be allowed (the service account `default`)", 30, _has_service_account,
          control_plane.CP.log("kube-controller-manager"))


def _await_containerd(node):
    answers = lambda: subprocess.run(node.machine.enter(["ctr", "version"]), capture_output=True, check=False,
                                     env=node.machine.environment()).returncode == 0
    until(f"containerd of {node.name}", 30, lambda: node.machine.check("containerd") or answers(),
          node.machine.log("containerd"))


def _has_service_account():
    return "default" in control_plane.kubectl("get", "serviceaccounts", "--namespace", "default", "--output", "name")


def kill(name, daemons):
    each = machine(name)
    for daemon in daemons:
        each.kill(daemon)
    if not daemons:
        fabric.pull_plug(each)  # processes die one by one: none may tell the others' machines of it
        each.power_off()


def down():
    """Everything of a bed, whatever state it is in, found by its control groups and its folder alone."""
    with holder.changing("down"):
        cgroup.remove()
        _unmount()
        _remove_folder()
    say("down: nothing is left but the cache")


def _remove_folder():
    if FOLDER.exists():
        with concurrent.futures.ThreadPoolExecutor(8) as workers:  # each node has thousands of files of images
            list(workers.map(lambda path: run(["rm", "-rf", path], seconds=300), FOLDER.iterdir()))
        FOLDER.rmdir()


def _unmount():
    """Machines mount in namespaces of their own, which are gone by now; this is for what a test mounted."""
    lines = open("/proc/self/mountinfo", encoding="utf-8").read().splitlines()
    points = [line.split()[4].encode().decode("unicode_escape") for line in lines]
    for point in sorted((point for point in points if point.startswith(f"{FOLDER}/")), reverse=True):
        run(["umount", "--lazy", point])


def say(text):
    print(f"bed: {text}", file=sys.stderr, flush=True)
