"""Where the bed keeps things: what is built once (the cache, which CI can keep), what a running bed writes (its
folder)."""
import os
import pathlib

from process import MachineError as BedError, write_whole  # noqa: F401: the modules of the bed have them from here

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]

CACHES = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
CACHE = pathlib.Path(os.environ.get("ATOLL_CLUSTER_CACHE") or CACHES / "atoll/cluster").resolve()
# Everything of a running bed, gone after `bed down`. Images are unpacked here, so its disk has to suit
# overlayfs.
FOLDER = pathlib.Path(os.environ.get("ATOLL_BED") or "/var/lib/atoll-bed").resolve()
