"""A few machines on one switch, reached by a remote shell that enters them as ssh would log in."""
import links
from host import Host, Reached

ADDRESSES = {"ipv4": "10.231.7.", "ipv6": "fd00:231:7::"}
SWITCH = "switch"
# Its caller gives an address and the words of a command, which a shell on the server joins. Shared memory and
# temporary files of the command are in memory of its own, and gone with its processes.
SHELL = """#!/bin/sh
address=$1
shift
case $address in
{cases}*) echo "no server at $address" >&2; exit 255 ;;
esac
{prelude}
export TMPDIR="/dev/shm/$server"
exec nsenter --target "$init" --net --uts --pid -- unshare --mount sh -euc '
  mount -t proc proc /proc; mount -t tmpfs tmpfs /dev/shm; mkdir "$TMPDIR"; exec sh -c "$0"' "$*"
"""


class ReachedNetwork:
    """A network that somebody keeps, by what it told() of itself."""

    def __init__(self, told):
        self.fabric = Reached("fabric", told["fabric"])
        self.hosts = {name: Reached(name, init) for name, init in told["hosts"].items()}
        self.addresses = told["addresses"]

    def told(self):
        return {"fabric": self.fabric.init(), "hosts": {name: host.init() for name, host in self.hosts.items()},
                "addresses": self.addresses}

    def write_shell(self, path, prelude=""):
        """Writes the remote shell; `prelude` is run before it enters, with $server set to the name."""
        cases = "".join(f"{address}) server={name}; init={self.hosts[name].init()} ;;\n"
                        for name, address in self.addresses.items())
        path.write_text(SHELL.format(cases=cases, prelude=prelude))
        path.chmod(0o755)
        return path


class Network(ReachedNetwork):
    """One that this process keeps."""

    def __init__(self, names, before_start=None, family="ipv4"):
        """Switches the machines on and links them; `before_start` is called in each one's first process."""
        self.hosts = {}
        self.addresses = {name: f"{ADDRESSES[family]}{10 + number}" for number, name in enumerate(names)}
        self.fabric = Host("fabric", before_start)
        try:
            links.make_switch(self.fabric, SWITCH)
            for name, address in self.addresses.items():
                self.hosts[name] = Host(name, before_start)
                links.plug_in(self.hosts[name], address, self.fabric, SWITCH)
        except BaseException:
            self.switch_off()
            raise

    def switch_off(self):
        for host in [*self.hosts.values(), self.fabric]:
            host.switch_off()
