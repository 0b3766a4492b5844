"""The network between machines: a switch in each rack and one above them, all in the machine `fabric`, links
made of veth pairs whose rates `tc` limits. Nothing touches the network of the machine that the bed runs on.

    cp ── spine ──(uplink)── r1 ──(rate)── n1, n2
             └────(uplink)── r2 ──(rate)── n3, n4
"""
import json

from layout import API_SERVER, SERVICES
from machine import Machine
from process import run, until

FABRIC = Machine("fabric")


def build(layout):
    FABRIC.boot()
    _make("spine", FABRIC, "bridge")
    for rack in sorted({node.rack for node in layout.all_nodes()}):
        _make(rack, FABRIC, "bridge")
        _make(f"{rack}-down", FABRIC, "veth", "peer", "name", f"{rack}-up")
        _attach(f"{rack}-down", "spine", layout.uplink)
        _attach(f"{rack}-up", rack, layout.uplink)


def _make(device, machine, *kind):
    if device not in _devices(machine):
        machine.run("ip", "link", "add", device, "type", *kind)
    machine.run("ip", "link", "set", device, "up")


def _attach(port, switch, rate):
    FABRIC.run("ip", "link", "set", port, "master", switch, "up")
    _limit(FABRIC, port, rate)


def plug_in_control_plane(machine, layout):
    _plug_in(machine, API_SERVER, "spine", "none")
    for node in layout.all_nodes():
        machine.run("ip", "route", "replace", node.pods, "via", node.address)


def plug_in(node, layout):
    """Links a node to its rack, with routes to the pods of the others. Everything else is unreachable, at once."""
    _plug_in(node.machine, node.address, node.rack, layout.rate)
    for other in layout.all_nodes():
        if other != node:
            node.machine.run("ip", "route", "replace", other.pods, "via", other.address)
    node.machine.run("ip", "route", "replace", SERVICES, "via", API_SERVER)
    node.machine.run("ip", "route", "replace", "unreachable", "default")


def _plug_in(machine, address, switch, rate):
    port = machine.name
    if "eth0" not in _devices(machine):
        until(f"the former link of {port} to go", 10, lambda: port not in _devices(FABRIC))
        # Each end is born in its machine's namespace: no name of ours is ever seen outside.
        run(["ip", "link", "add", port, "netns", FABRIC.init(), "type", "veth",
             "peer", "name", "eth0", "netns", machine.init()])
    _attach(port, switch, rate)
    machine.run("ip", "address", "replace", f"{address}/24", "dev", "eth0")
    machine.run("ip", "link", "set", "eth0", "up")
    _limit(machine, "eth0", rate)


def _limit(machine, device, rate):
    """What leaves through a device; the burst is small, so that short transfers are held back too."""
    if rate != "none":
        machine.run("tc", "qdisc", "replace", "dev", device, "root",
                    "tbf", "rate", rate, "burst", "256k", "latency", "50ms")


def _devices(machine):
    return {link["ifname"] for link in json.loads(machine.run("ip", "-json", "link"))}
