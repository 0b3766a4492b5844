"""Servers on one machine: network namespaces of this test's own, joined by a bridge in another one, each with its own host
name for what runs in it, reached by a remote shell that enters the namespace. Needs root; gone when the test ends."""
import atexit
import os
import shutil
import stat
import subprocess
import sys

import harness

# Stands for sshd where a launcher asks whether a server is there.
LISTENER = ("import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print('ready', flush=True)\n"
            "while True: s.accept()[0].close()")
# mpirun calls it with an address and the words of a command, which a shell on the server would join.
SHELL = """#!/bin/sh
address=$1
shift
case $address in
{cases}*) echo "no server at $address" >&2; exit 255 ;;
esac
mkdir -p "$TMPDIR"
exec nsenter --net="/run/netns/{prefix}$name" unshare --uts sh -c 'hostname "$0" && exec sh -c "$1"' "$name" "$*"
"""


class Servers:
    def __init__(self, folder, names):
        missing = [tool for tool in ("ip", "nsenter", "unshare") if not shutil.which(tool)]
        if os.geteuid() != 0 or missing:
            harness.skip("network namespaces need root" if not missing else f"{missing[0]} is not here")
        self.prefix, self.folder, self.started = f"atoll-{os.getpid()}-", folder, []
        self.addresses = {name: f"10.231.7.{10 + i}" for i, name in enumerate(names)}
        atexit.register(self.remove)
        self._namespace("fabric")
        self._ip("fabric", "link add bridge type bridge")
        self._ip("fabric", "link set bridge up")
        for name, address in [*self.addresses.items(), ("launcher", "10.231.7.9")]:
            self._join(name, address)

    def _namespace(self, name):
        made = subprocess.run(["ip", "netns", "add", self.prefix + name], capture_output=True, text=True)
        if made.returncode != 0:
            harness.skip(f"no network namespace can be made here: {made.stderr.strip()}")

    def _ip(self, name, words):
        subprocess.run(["ip", "-n", self.prefix + name, *words.split()], check=True)

    def _join(self, name, address):
        self._namespace(name)
        self._ip("fabric", f"link add {name[:12]} type veth peer name eth0 netns {self.prefix}{name}")
        self._ip("fabric", f"link set {name[:12]} master bridge up")
        self._ip(name, "link set lo up")
        self._ip(name, "link set eth0 up")
        self._ip(name, f"address add {address}/24 dev eth0")

    def enter(self, name):
        """The words before a command that is to run in the server's network."""
        return ["nsenter", f"--net=/run/netns/{self.prefix}{name}"]

    def listen(self, name, port=2222):
        process = subprocess.Popen([*self.enter(name), sys.executable, "-c", LISTENER, self.addresses[name], str(port)],
                                   stdout=subprocess.PIPE, text=True)
        self.started.append(process)
        harness.expect(process.stdout.readline() == "ready\n", f"a listener in {name}")
        return process

    def shell(self):
        """A program that runs a command on a server, as ssh would; each has a folder for temporary files."""
        cases = "".join(f"{address}) name={name}; export TMPDIR={self.folder}/tmp-{name} ;;\n"
                        for name, address in self.addresses.items())
        path = self.folder / "shell"
        path.write_text(SHELL.format(cases=cases, prefix=self.prefix))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def remove(self):
        for process in self.started:
            process.kill()
            process.wait()
        for name in [*self.addresses, "launcher", "fabric"]:
            subprocess.run(["ip", "netns", "delete", self.prefix + name], capture_output=True)
