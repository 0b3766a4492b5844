"""The network between machines: a switch in each rack and one above them, all in the machine `fabric`, links
made of veth pairs whose rates `tc` limits. Nothing touches the network of the machine that the bed runs on.

    cp ── spine ──(uplink)── r1 ──(rate)── n1, n2
             └────(uplink)── r2 ──(rate)── n3, n4
"""
import links
from machine import Machine

FABRIC = Machine("fabric")
BURST = "256k"  # small, so that short transfers are held back too


def build(layout):
    FABRIC.boot()
    links.make(FABRIC, "spine", "bridge")
    for rack in sorted({node.rack for node in layout.all_nodes()}):
        links.make(FABRIC, rack, "bridge")
        links.make(FABRIC, f"{rack}-down", "veth", "peer", "name", f"{rack}-up")
        _attach(f"{rack}-down", "spine", layout.uplink)
        _attach(f"{rack}-up", rack, layout.uplink)


def _attach(port, switch, rate):
    FABRIC.run("ip", "link", "set", port, "master", switch, "up")
    _limit(FABRIC, port, rate)


def plug_in_control_plane(machine, layout):
    addresses = layout.addresses
    _plug_in(machine, addresses.api_server, "spine", "none")
    for node in layout.all_nodes():
        machine.run(*addresses.route, "replace", node.pods, "via", node.address)


def plug_in(node, layout):
    """Links a node to its rack, with routes to the pods of the others. Everything else is unreachable, at once."""
    _plug_in(node.machine, node.address, node.rack, layout.rate)
    addresses = layout.addresses
    for other in layout.all_nodes():
        if other != node:
            node.machine.run(*addresses.route, "replace", other.pods, "via", other.address)
    node.machine.run(*addresses.route, "replace", addresses.services, "via", addresses.api_server)
    node.machine.run(*addresses.route, "replace", "unreachable", "default")


def pull_plug(machine):
    """Until it is plugged in again. Its link is gone, not only down: connections that can't end any more would keep the network of a
    machine that is off for minutes, and with it its end of the link."""
    if machine.name in links.devices(FABRIC):
        FABRIC.run("ip", "link", "delete", machine.name)


def _plug_in(machine, address, switch, rate):
    links.plug_in(machine, address, FABRIC, switch)
    _limit(FABRIC, machine.name, rate)
    _limit(machine, "eth0", rate)


def _limit(machine, device, rate):
    if rate != "none":
        links.limit(machine, device, rate, BURST)
