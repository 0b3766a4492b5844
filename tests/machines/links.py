"""Links between machines that are namespaces: veth pairs to a bridge in a machine of its own. A machine here is whatever
has `run(*words)`, which runs a command in its network, `init()`, the pid of a process in it, and a name. Nothing touches
the network of the machine that all this runs on."""
import json

from process import run, until


def make(machine, device, *kind):
    """Makes a device unless it is there, and switches it on."""
    if device not in devices(machine):
        machine.run("ip", "link", "add", "name", device, "type", *kind)
    machine.run("ip", "link", "set", device, "up")


def make_switch(machine, name):
    """A switch passes frames on and judges none. A bridge would show each to the packet filter, at a tenth of all that a frame costs."""
    make(machine, name, "bridge")
    machine.run("sh", "-c", "echo 0 2>/dev/null >/proc/sys/net/bridge/bridge-nf-call-iptables || true")


def plug_in(machine, address, fabric, switch):
    """Links a machine's eth0 to a switch of the fabric, where the port has the machine's name."""
    port = machine.name
    if "eth0" not in devices(machine):
        until(f"the former link of {port} to go", 10, lambda: port not in devices(fabric))
        # Each end is born in its machine's namespace: no name of ours is ever seen outside.
        run(["ip", "link", "add", "name", port, "netns", fabric.init(), "type", "veth",
             "peer", "name", "eth0", "netns", machine.init()])
    fabric.run("ip", "link", "set", port, "master", switch, "up")
    # An IPv6 address would be tried out for a second or two before it can be used.
    width = ["64", "nodad"] if ":" in address else ["24"]
    machine.run("ip", "address", "replace", f"{address}/{width[0]}", "dev", "eth0", *width[1:])
    machine.run("ip", "link", "set", "eth0", "up")


def limit(machine, device, rate, burst):
    """Lets no more than `rate` leave through a device, as tc writes it; less than `burst` at a time isn't held back."""
    machine.run("tc", "qdisc", "replace", "dev", device, "root", "handle", "1:",
                "tbf", "rate", rate, "burst", burst, "latency", "50ms")


def received(machine):
    """Bytes that have come in through each device."""
    told = json.loads(machine.run("ip", "-json", "-statistics", "link"))
    return {link["ifname"]: link["stats64"]["rx"]["bytes"] for link in told}


def devices(machine):
    return {link["ifname"] for link in json.loads(machine.run("ip", "-json", "link"))}
