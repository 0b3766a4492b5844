"""Container images without a registry: the base that Dockerfile names (Debian made by debootstrap), images
built on it by buildah, archives in the cache, and their way into each node's containerd."""
import concurrent.futures
import os
import shutil

from build import folder_of_ours
from node import PAUSE
from place import CACHE, BedError
from process import run

BASE = "docker.io/library/debian:bookworm-slim"
MIRROR = os.environ.get("DEBIAN_MIRROR") or "http://deb.debian.org/debian"
ARCHIVES = CACHE / "images"
BUILDAH = ["buildah", "--root", CACHE / "buildah", "--runroot", CACHE / "buildah-run", "--storage-driver", "vfs"]
PAUSE_FILE = "FROM scratch\nCOPY pause /pause\nUSER 65535:65535\nENTRYPOINT [\"/pause\"]\n"


def full(name):
    """The name as a kubelet completes it: atoll/engine is docker.io/atoll/engine:latest."""
    name = name if ":" in name.rpartition("/")[2] else name + ":latest"
    first, slash, _ = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def archive_of(name):
    """Where an image's archive is kept."""
    return ARCHIVES / (full(name).replace("/", "_").replace(":", "@") + ".tar")


def make_pause():
    """The image of pods' sandboxes, made again when their program changed."""
    folder = folder_of_ours()
    if not (folder / "pause.tar").exists():
        (folder / "Containerfile").write_text(PAUSE_FILE)
        build(PAUSE, folder / "Containerfile", folder, archive=folder / "pause.tar")
    return folder / "pause.tar"


def make_base():
    """The stand-in for debian:bookworm-slim, made once."""
    if _holds(BASE):
        return archive_of(BASE) if archive_of(BASE).exists() else _export(BASE, archive_of(BASE))
    root = CACHE / f"debian-root.{os.getpid()}"
    try:
        run(["debootstrap", "--variant=minbase", "bookworm", root, MIRROR], seconds=900)
        shutil.rmtree(root / "var/cache/apt/archives", ignore_errors=True)
        container = run([*BUILDAH, "from", "scratch"]).strip()
        run([*BUILDAH, "add", container, root, "/"], seconds=300)
        run([*BUILDAH, "config", "--cmd", "bash", container])
        run([*BUILDAH, "commit", "--rm", container, BASE], seconds=300)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return _export(BASE, archive_of(BASE))


def build(name, containerfile, context, *options, archive=None):
    """Builds an image; options are buildah's (--target, --build-arg). Returns its archive."""
    run([*BUILDAH, "bud", "--isolation", "chroot", "--pull-never", "--layers", "--tag", full(name),
         "--file", containerfile, *options, context], seconds=3000)
    return _export(full(name), archive or archive_of(name))


def _export(name, archive):
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_name(f".{archive.name}.{os.getpid()}")
    # Docker's format keeps layers uncompressed: four nodes unpack each.
    run([*BUILDAH, "push", name, f"docker-archive:{unfinished}:{name}"], seconds=600)
    unfinished.rename(archive)
    return archive


def _holds(name):
    return name in run([*BUILDAH, "images", "--format", "{{.Name}}:{{.Tag}}"]).split()


def load(archives, nodes):
    """Brings images into the nodes that lack them, side by side."""
    missing = [str(archive) for archive in archives if not archive.exists()]
    if missing:
        raise BedError(f"no such image archive: {', '.join(missing)}: build it with tests/cluster/bed image")
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        list(workers.map(lambda node: [_import(node, archive) for archive in archives], nodes))


def _import(node, archive):
    state = archive.stat()
    loaded, version = node.machine.bed / "images" / archive.name, f"{state.st_mtime_ns} {state.st_size}"
    if loaded.exists() and loaded.read_text() == version:
        return
    with open(archive, "rb") as stream:
        node.machine.run("ctr", "-n", "k8s.io", "images", "import", "-", stdin=stream, seconds=600)
    loaded.parent.mkdir(exist_ok=True)
    loaded.write_text(version)
