"""A rig: servers that are namespaces of this machine, with shaped links between them and a share of the cores for each rank.
It exists while its `with` block runs; what a killed process left of one is found by leftovers.py."""
import json
import pathlib
import shutil

import links
import quotas
import shaping
from network import Network

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = pathlib.Path("/tmp")
COMMAND_HOST = "launcher"  # where the command runs; its link is not shaped, and no rank uses it
RESHAPE = """#!/bin/sh
exec "{program}" "{state}" "$@"
"""


def folder_of(name):
    return FOLDERS / f"atoll-rig.{name}"


class Rig:
    def __init__(self, layout):
        self.layout = layout
        self.name = quotas.own_name()
        self.folder = folder_of(self.name)
        self.network = None

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.network:
            self.network.switch_off()
        quotas.GROUPS.remove(self.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _build(self):
        (self.folder / "tmp").mkdir(parents=True)
        quotas.create(self.name, self.layout)
        self.network = Network([*self.layout.names, COMMAND_HOST], lambda: quotas.join(self.name, quotas.MACHINES))
        self._settle_tcp()
        shaping.build(self.network, self.layout)
        self._shell = self.network.write_shell(
            self.folder / "shell", f'{quotas.entering(self.name, quotas.MACHINES)}\nexport ATOLL_RIG_SERVER="$server"')
        self._starter = quotas.write_starter(self.folder / "start-rank", self.name, self.layout)
        self._reshape = self._write_reshape()
        addresses = [self.network.addresses[name] for name in self.layout.names]
        self._host_list = ",".join(addresses)
        self._host_file = self.folder / "hosts"
        self._host_file.write_text("".join(f"{address} slots={self.layout.ranks_per_server}\n" for address in addresses))

    def _settle_tcp(self):
        """Congestion control is Linux's own, cubic, whatever this machine uses for itself: with `bbr` a connection whose link was down
        for seconds can stand still for as long again, or for good."""
        for host in self.network.hosts.values():
            for route in json.loads(host.run("ip", "-json", "route", "show", "dev", "eth0")):
                host.run("ip", "route", "change", route["dst"], "dev", "eth0", "proto", "kernel", "scope", "link", "src",
                         route["prefsrc"], "congctl", "cubic")

    def _write_reshape(self):
        state = self.folder / "state.json"
        state.write_text(json.dumps({"layout": self.layout.text(), "network": self.network.told()}))
        path = self.folder / "set-link"
        path.write_text(RESHAPE.format(program=HERE / "reshape", state=state))
        path.chmod(0o755)
        return path

    def sent(self):
        """Bytes that have left each server."""
        received = links.received(self.network.fabric)
        return {name: received[name] for name in self.layout.names}

    def environment(self):
        """Tells atoll where its ranks go, mpirun how to start them there, and everybody what rig this is."""
        return {
            "ATOLL_HOSTS": self._host_list,
            "ATOLL_SHELL": str(self._shell),
            "ATOLL_RIG": self.layout.text(),
            "ATOLL_RIG_LINK": str(self._reshape),
            "TMPDIR": str(self.folder / "tmp"),
            # For ranks of atoll the first; the others are for mpirun as called by anybody else.
            "OMPI_MCA_orte_fork_agent": str(self._starter),
            "OMPI_MCA_orte_default_hostfile": str(self._host_file),
            "OMPI_MCA_plm_rsh_agent": str(self._shell),
            "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
