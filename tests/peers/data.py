"""Reads a graph of the neutral layout: edges.npy, features, labels.npy, split*.npz, meta.json.

The only transforms are those that meta.json asks for: where one arc an edge is stored the reverse arcs are added and
doubles removed. Self arcs of the source stay; what a model does about them is the model's business.
"""
import json
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from data_root import DATA


@dataclass
class Graph:
    vertices: int
    src: np.ndarray        # (E,) int64: arc k goes src[k] -> dst[k]; sorted by (dst, src)
    dst: np.ndarray        # (E,) int64
    features: object       # (n, F) float32: scipy CSR where the source is sparse, else an array
    labels: np.ndarray     # (n,) int64, -1 = unlabelled
    train: np.ndarray      # (n,) bool, labelled vertices only; likewise val, test
    val: np.ndarray
    test: np.ndarray

    @property
    def classes(self):
        return int(self.labels.max()) + 1


def load(name, column=0):
    """The data set `name` with its default split; `column` picks one of the splits where there are several."""
    folder = DATA / name
    if not folder.is_dir():
        raise SystemExit(f"{folder}: no such data set; set ATOLL_DATA to the folder that holds it")
    meta = json.loads((folder / "meta.json").read_text())
    n = meta["num_nodes"]
    src, dst = arcs(np.load(folder / "edges.npy"), n, meta["symmetrise_for_standard_use"])
    labels = np.load(folder / "labels.npy").astype(np.int64)
    with np.load(folder / "split.npz") as split:
        masks = [one_split(split[part], column) & (labels >= 0) for part in ("train", "val", "test")]
    return Graph(n, src, dst, features(folder), labels, *masks)


def arcs(edges, n, symmetrise):
    src, dst = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
    if symmetrise:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    key = np.unique(dst * n + src)
    return key % n, key // n


def features(folder):
    if (folder / "features.npz").exists():
        return sp.load_npz(folder / "features.npz").tocsr().astype(np.float32)
    for name in ("features.npy", "features_structural64.npy"):
        if (folder / name).exists():
            return np.load(folder / name).astype(np.float32)
    raise SystemExit(f"{folder}: no features")


def row_normalised(features):
    """Each row of a sparse matrix divided by its sum; rows without entries stay."""
    total = np.asarray(features.sum(1)).ravel()
    return (sp.diags(1 / np.where(total == 0, 1, total)) @ features).tocsr().astype(np.float32)


def one_split(mask, column):
    return mask[:, column] if mask.ndim == 2 else mask
