"""Servers on one machine: namespaces joined by a switch, each with its own host name, reached by a remote shell that enters
them. Needs root; gone when the test ends."""
import atexit
import os
import shutil
import subprocess
import sys

import harness

sys.path.append(str(harness.ROOT / "tests" / "machines"))
from network import Network  # noqa: E402
from process import MachineError  # noqa: E402

# Stands for sshd where a launcher asks whether a server is there.
LISTENER = ("import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2])), family=socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET); print('ready', flush=True)\n"
            "while True: s.accept()[0].close()")


class Servers:
    def __init__(self, folder, names, family="ipv4"):
        missing = [tool for tool in ("ip", "nsenter", "unshare", "setpriv") if not shutil.which(tool)]
        if os.geteuid() != 0 or missing:
            harness.skip("network namespaces need root" if not missing else f"{missing[0]} is not here")
        self.folder = folder
        try:
            self._network = Network([*names, "launcher"], family=family)
        except MachineError as error:
            harness.skip(str(error))
        atexit.register(self._network.switch_off)
        self.addresses = {name: self._network.addresses[name] for name in names}

    def enter(self, name):
        """The words before a command that is to run in the server's network."""
        return self._network.hosts[name].enter_network([])

    def listen(self, name, port=2222):
        process = subprocess.Popen([*self.enter(name), sys.executable, "-c", LISTENER, self.addresses[name], str(port)],
                                   stdout=subprocess.PIPE, text=True)
        atexit.register(process.kill)
        harness.expect(process.stdout.readline() == "ready\n", f"a listener in {name}")
        return process

    def shell(self):
        """A program that runs a command on a server, as ssh would; each has temporary files of its own."""
        return self._network.write_shell(self.folder / "shell")
