"""Where the bed keeps things: what is built once (the cache, which CI can keep), what a running bed writes (its
folder)."""
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

CACHES = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
CACHE = pathlib.Path(os.environ.get("ATOLL_CLUSTER_CACHE") or CACHES / "atoll/cluster").resolve()
# Everything of a running bed, gone after `bed down`. Images are unpacked here, so its disk has to suit overlayfs.
FOLDER = pathlib.Path(os.environ.get("ATOLL_BED") or "/var/lib/atoll-bed").resolve()


def write_whole(path, text):
    """Writes a file so that a command killed meanwhile leaves the old one, or none, but no half."""
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(text)
    unfinished.rename(path)


class BedError(Exception):
    """What went wrong in the world, in words for the person at the terminal."""
