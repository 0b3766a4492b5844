"""What an image of ours is held to: no larger than promised, a user by number, nothing to compile with."""
import json
import re
import tarfile

import images
from place import BedError

COMPILER = re.compile(r"(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|cc1|cc1plus|collect2|clang|clang\+\+|nvcc|cicc|ptxas|as|ld|ld\.bfd|ld\.gold|lld)"
                      r"(-[\d.]+)?")


def check(name, most):
    """The built image `name` unpacks to `most` bytes over its base."""
    with tarfile.open(images.archive_of(name)) as archive:
        layers, user = _contents(archive)
        of_base = _contents_of_base()
        size = sum(file.size for layer, files in layers.items() if layer not in of_base for file in files)
        compilers = sorted({file.name for files in layers.values() for file in files if _is_compiler(file)})
    if size > most:
        raise BedError(f"{name} is {size / 1e6:.1f} MB over its base, more than {most / 1e6:.0f} MB")
    if not re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", user):
        raise BedError(f"{name} runs as user {user!r}, not as a number other than 0")
    if compilers:
        raise BedError(f"{name} has something to compile with: {', '.join(compilers)}")
    return size


def _contents(archive):
    """({layer: its files}, the user that it runs as)"""
    manifest = json.load(archive.extractfile("manifest.json"))[0]
    user = json.load(archive.extractfile(manifest["Config"]))["config"].get("User", "")
    return {layer: _files_of(archive, layer) for layer in manifest["Layers"]}, user


def _files_of(archive, layer):
    with tarfile.open(fileobj=archive.extractfile(layer)) as files:
        return files.getmembers()


def _contents_of_base():
    with tarfile.open(images.archive_of(images.BASE)) as archive:
        return _contents(archive)[0]


def _is_compiler(file):
    folder, _, name = file.name.rpartition("/")
    return COMPILER.fullmatch(name) and not file.isdir() and not folder.startswith("usr/share")
