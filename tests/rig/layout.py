"""What a rig is like: its servers, the ranks on each, their share of the cores, and the rates of the links."""
import dataclasses
import json
import os

import rates
from process import MachineError

LEAST_CPU = 0.2  # cores: the kernel's least quota is 1 ms, in a period of 5 ms


@dataclasses.dataclass
class Layout:
    servers: int
    ranks_per_server: int
    link: str  # the rate of each server's link, in and out …
    own_links: dict[int, str] = dataclasses.field(default_factory=dict)  # … but of these servers'
    pairs: dict[tuple[int, int], str] = dataclasses.field(default_factory=dict)  # and between two of them
    cpu_per_rank: float = 0  # cores; 0: all there are, shared out

    def __post_init__(self):
        if self.servers < 1 or self.ranks_per_server < 1 or self.servers > 64:
            raise MachineError(f"--servers {self.servers} --ranks-per-server {self.ranks_per_server} is not allowed "
                               "(use 1 to 64 servers with a rank at least)")
        self.cpu_per_rank = self.cpu_per_rank or round(len(os.sched_getaffinity(0)) / self.ranks, 3)
        if self.cpu_per_rank < LEAST_CPU:
            raise MachineError(f"{self.cpu_per_rank:g} cores a rank is not allowed (use {LEAST_CPU} at least: fewer ranks)")
        for server in [*self.own_links, *(server for pair in self.pairs for server in pair)]:
            if not 0 <= server < self.servers:
                raise MachineError(f"there is no server {server} (use 0 to {self.servers - 1})")
        for rate in [self.link, *self.own_links.values(), *self.pairs.values()]:
            rates.bits(rate)

    @property
    def ranks(self):
        return self.servers * self.ranks_per_server

    @property
    def names(self):
        return [f"server{number}" for number in range(self.servers)]

    def rate_of(self, server):
        return self.own_links.get(server, self.link)

    def scaled_to(self, link):
        """The same network with this rate in place of `link`: rates apart from it keep their ratio to it."""
        factor = rates.bits(link) / rates.bits(self.link)
        return dataclasses.replace(
            self, link=link, own_links={key: rates.scaled(rate, factor) for key, rate in self.own_links.items()},
            pairs={key: rates.scaled(rate, factor) for key, rate in self.pairs.items()})

    def text(self):
        """One line of JSON, for whoever stores it beside a measurement."""
        told = {"servers": self.servers, "ranksPerServer": self.ranks_per_server, "link": self.link,
                "cpuPerRank": self.cpu_per_rank}
        if self.own_links:
            told["ownLinks"] = {str(server): rate for server, rate in self.own_links.items()}
        if self.pairs:
            told["pairs"] = {f"{one}:{other}": rate for (one, other), rate in self.pairs.items()}
        return json.dumps(told)


def read(text):
    """What text() wrote."""
    told = json.loads(text)
    return Layout(told["servers"], told["ranksPerServer"], told["link"],
                  {int(server): rate for server, rate in told.get("ownLinks", {}).items()},
                  {tuple(map(int, pair.split(":"))): rate for pair, rate in told.get("pairs", {}).items()},
                  told["cpuPerRank"])
