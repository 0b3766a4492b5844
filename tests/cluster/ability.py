"""Whether this machine can carry a bed at all. Tests are skipped with the reason where it can't: in a container without rights,
say, or where the kernel lacks a file system."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import cgroup
from place import FOLDER

PROGRAMS = {"ip": "iproute2", "nft": "nftables", "runc": "runc", "buildah": "buildah", "debootstrap": "debootstrap"}
# In namespaces of its own, as a machine of the bed: a link, a bridge, a rate, a packet filter, an overlay.
TRIAL = """
ip link add trial0 type veth peer name trial1
ip link add trial2 type bridge
tc qdisc add dev trial0 root tbf rate 1gbit burst 1mb latency 50ms
nft add table inet trial
mkdir lower upper work whole
mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work whole
mount -t tmpfs tmpfs whole
"""


def lacking():
    """What is in the way, in words; none where nothing is."""
    if os.geteuid() != 0:
        return "namespaces and control groups need root"
    absent = sorted(package for program, package in PROGRAMS.items() if not shutil.which(program))
    if absent:
        return f"not installed: {', '.join(absent)} (docker/install-packages docker/packages-cluster.txt)"
    return _control_groups() or _kernel()


def _control_groups():
    try:
        cgroup.create("trial")
        cgroup.remove("trial")
    except OSError as error:
        return f"control groups can't be made: {error}"
    return None


def _kernel():
    with tempfile.TemporaryDirectory(dir=_disk(), prefix="atoll-trial.") as folder:
        command = ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "sh", "-euxc", TRIAL]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=30)
    return None if done.returncode == 0 else f"this kernel lets no bed be made: {done.stderr.strip().splitlines()[-1]}"


def _disk():
    """Where the bed's folder will be."""
    return next(parent for parent in pathlib.Path(FOLDER).parents if parent.exists())
