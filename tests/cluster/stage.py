"""What the suites stand on: the bed, both images in its nodes, volumes on its shared folder with Cora in one, and the
operator, installed by its chart into a namespace that enforces the restricted Pod Security level."""
import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import build
import images
import layout
import lean
import life
from control_plane import inside, kubectl
from place import FOLDER, REPOSITORY
from pods import apply
from process import run

ATOLL = pathlib.Path(os.environ.get("ATOLL") or REPOSITORY / "build/atoll").resolve()
VERSION = "0.1.0"
ENGINE, OPERATOR, ENGINE_CUDA = (f"atoll/{name}:{VERSION}" for name in ("engine", "operator", "engine-cuda"))
SHARED = FOLDER / "shared"  # /mnt on every node
SYSTEM, SPACE = "atoll-system", "train"
USER = 10001                # of the images
# Jobs on GPUs get the engine without CUDA: these nodes have none.
QUICK = {"jobs.tolerationSeconds": 10, "jobs.graceSeconds": 30, "engineCuda.repository": "atoll/engine"}


def make_images():
    """Of the programs as they are now; nothing is done when neither they nor the Dockerfile have changed."""
    with _context("atoll", "atoll-operator") as context:
        images.make_base()
        _make_image(ENGINE, "engine", context, 250e6)
        _make_image(OPERATOR, "operator", context, 120e6)


def make_image_for_gpus():
    """False where `make programs-cuda` hasn't made its program."""
    libraries = ATOLL.parent / "programs/cuda"
    if not ATOLL.with_name("atoll-cuda").exists() or not libraries.is_dir():
        return False
    with _context("atoll", "atoll-operator", "atoll-cuda") as context:
        shutil.copytree(libraries, context / "build/programs/cuda")
        _make_image(ENGINE_CUDA, "engine-cuda", context, 1100e6)
    return True


@contextlib.contextmanager
def _context(*programs):
    """What Dockerfile is built from, with these programs."""
    with tempfile.TemporaryDirectory(prefix="atoll-images.") as folder:
        context = pathlib.Path(folder)
        shutil.copytree(REPOSITORY / "docker", context / "docker")
        shutil.copy(REPOSITORY / "Dockerfile", context)
        for name in programs:
            run(["install", "-D", "-s", "-t", context / "build/programs", ATOLL.with_name(name)])
        yield context


def _make_image(name, target, context, most):
    note, state = _made_of(name), _digest(context)
    if not images.archive_of(name).exists() or not note.exists() or note.read_text() != state:
        images.build(name, context / "Dockerfile", context, "--build-arg", f"BASE={images.BASE}", "--build-arg",
                     "PROGRAMS=prebuilt", "--target", target)
        note.write_text(state)
    lean.check(name, most)


def _made_of(name):
    """Says which programs the image has."""
    return images.archive_of(name).with_suffix(".made-of")


def _digest(folder):
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def bring_up(**options):
    """A bed with images and volumes; whatever is there already is left alone."""
    make_images()
    build.build(["helm"])
    life.up(options)
    images.load([images.archive_of(name) for name in (images.BASE, ENGINE, OPERATOR)], layout.saved().all_nodes())
    for space in (SYSTEM, SPACE, "monitoring"):
        apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": space, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})
    for name in ("datasets", "results"):
        make_volume(name)


def make_volume(name, space=SPACE):
    """A folder that all nodes share, as a claim of that name that every pod may write to."""
    folder = SHARED / name
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, USER, USER)
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{space}-{name}"}, "spec": {
              **common, "capacity": {"storage": "10Gi"}, "hostPath": {"path": f"/mnt/{name}"},
              "claimRef": {"namespace": space, "name": name}}},
          {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": space},
           "spec": {**common, "volumeName": f"{space}-{name}", "resources": {"requests": {"storage": "10Gi"}}}})


def import_cora():
    target = SHARED / "datasets/cora"
    if not target.exists():
        atoll("dataset", "import", "--format", "npy", REPOSITORY / "tests/data/cora", target)
        run(["chown", "-R", f"{USER}:{USER}", target])


def atoll(*words, seconds=300, **options):
    """The engine on this machine, outside the bed."""
    return run([ATOLL, *words], seconds, **options)


def helm(*words, seconds=180):
    command, environment = inside(["helm", *map(str, words)])
    return run(command, seconds, env=environment)


def install_operator(chart=REPOSITORY / "charts/atoll", **values):
    """By the chart, also in place of one that is installed; `values`: the chart's, by dotted names, beside those that suit a bed.
    Pods of an image that was made anew since are replaced, though its name is the same."""
    settings = [word for name, value in (QUICK | values).items() for word in ("--set", f"{name}={value}")]
    settings += ["--set-string", f"podAnnotations.made-of={_made_of(OPERATOR).read_text()}"]
    helm("upgrade", "--install", "atoll", chart, "--namespace", SYSTEM, "--wait", "--timeout", "120s",
         *settings)


def operator_log(lines=200):
    try:
        return kubectl("logs", "--namespace", SYSTEM, "--selector", "app.kubernetes.io/name=atoll", "--prefix",
                       f"--tail={lines}")
    except Exception as error:  # a diagnosis must not hide what it is for
        return str(error)


def run_here(*words):
    """A program of this machine in the control plane's network, in the background."""
    command, environment = inside([str(word) for word in words])
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
