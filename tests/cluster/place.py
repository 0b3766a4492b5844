"""Where the bed keeps things: what is built once (the cache, which CI can keep) and what a running bed writes (its folder)."""
import os
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

CACHE = pathlib.Path(os.environ.get("ATOLL_CLUSTER_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "atoll" / "cluster")
# Everything of a running bed, gone after `bed down`. Images are unpacked here: it needs a disk that overlayfs can use.
FOLDER = pathlib.Path(os.environ.get("ATOLL_BED") or "/var/lib/atoll-bed")


class BedError(Exception):
    """What went wrong in the world, in words for the person at the terminal."""
