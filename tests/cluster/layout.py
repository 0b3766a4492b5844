"""How a bed is laid out: which machines there are, their addresses, racks and labels, how fast their links."""
import dataclasses
import json

from machine import Machine
from place import FOLDER, BedError, write_whole

FILE = FOLDER / "layout.json"


@dataclasses.dataclass(frozen=True)
class Family:
    """The addresses of a bed, all of one IP family."""
    api_server: str   # the control plane's address, port 6443
    node: str         # of the machine with a number
    services: str
    kubernetes: str   # the API server as pods see it
    pod_network: str
    pods: str         # of the node with a number
    everywhere: str
    route: tuple      # words of `ip` that begin a command about routes

    @property
    def server(self):
        """The API server's URL."""
        return f"https://[{self.api_server}]:6443" if ":" in self.api_server else f"https://{self.api_server}:6443"


FAMILIES = {
    "ipv4": Family("10.77.0.1", "10.77.0.{}", "10.96.0.0/16", "10.96.0.1", "10.244.0.0/16", "10.244.{}.0/24", "0.0.0.0/0",
                   ("ip", "-4", "route")),
    "ipv6": Family("fd00:77::1", "fd00:77::{}", "fd00:96::/108", "fd00:96::1", "fd00:244::/56", "fd00:244:0:{}::/64", "::/0",
                   ("ip", "-6", "route")),
}


@dataclasses.dataclass(frozen=True)
class Layout:
    nodes: int = 4
    racks: int = 2
    rate: str = "1gbit"      # of each machine's link, both ways; "none" leaves it alone
    uplink: str = "none"     # of each rack's link to the rest
    node_grace: int = 12     # seconds without a sign of life until a node counts as NotReady
    family: str = "ipv4"     # of all addresses: ipv4 or ipv6
    watches_nodes: bool = True  # whether a silent node turns NotReady; not where nobody plays thousands of them

    @property
    def addresses(self):
        return FAMILIES[self.family]

    def check(self):
        if not 1 <= self.racks <= self.nodes <= 16:
            raise BedError(f"--nodes {self.nodes} --racks {self.racks}: 1 to 16 nodes, in at most as many racks")
        if self.family not in FAMILIES:
            raise BedError(f"--family {self.family}: use {' or '.join(FAMILIES)}")
        if self.node_grace < 6:
            raise BedError(f"--node-grace {self.node_grace}: nodes tell every 2 s that they live; 6 is the least")

    def all_nodes(self):
        return [Node(f"n{number}", number, f"r{(number - 1) * self.racks // self.nodes + 1}", self.addresses)
                for number in range(1, self.nodes + 1)]

    def save(self):
        write_whole(FILE, json.dumps(dataclasses.asdict(self)) + "\n")


@dataclasses.dataclass(frozen=True)
class Node:
    name: str
    number: int
    rack: str
    family: Family

    @property
    def machine(self):
        return Machine(self.name)

    @property
    def address(self):
        return self.family.node.format(10 + self.number)

    @property
    def pods(self):
        return self.family.pods.format(self.number)

    @property
    def labels(self):
        """Racks under the label that the manifest's topologyLevels name by default."""
        return {"topology.kubernetes.io/zone": "bed", "network.topology.nvidia.com/block": self.rack}


def saved():
    """The layout of the bed that is up, or was being brought up; None without one."""
    return Layout(**json.loads(FILE.read_text())) if FILE.exists() else None
