#!/usr/bin/env python3
"""Every variant of a model computes the same function: same weights, no dropout, same loss and gradient norm.

Run before timing: python test_variants.py DATASET… (default cora). Weights are set by a formula that is the same for a
matrix and its transpose, because the peers store them either way.
"""
import os
import sys

os.environ.setdefault("DGLBACKEND", "pytorch")
import scipy.sparse as sp
import torch
import torch.nn.functional as F

import cases
import data
import dgl_models
import pyg_models
import sparse

SHAPES = {"gcn": {"layers": 3, "hidden": 64}, "sage": {"layers": 3, "hidden": 64},
          "gat": {"layers": 2, "hidden": 16, "heads": 4}}


def main(datasets):
    wrong = 0
    for dataset in datasets:
        graph = data.load(dataset)
        for kind, shape in SHAPES.items():
            case = {"kind": kind, "dropout": 0.0, **shape}
            results = {name: measure(case, graph, *way) for name, way in ways(kind, graph).items()}
            wrong += report(dataset, kind, results)
    return 1 if wrong else 0


def ways(kind, graph):
    forms = ["dense", "sparse"] if sp.issparse(graph.features) else ["dense"]
    listed = {way for form in forms for way in cases.candidates({"kind": kind, "features": form})}
    return {"/".join(way): way for way in sorted(listed)}


def measure(case, graph, peer, variant, form):
    x = sparse.Constant(graph.features) if form == "sparse" else dense(graph)
    network = {"pyg": pyg_models, "dgl": dgl_models}[peer].build(case, variant, graph, x)
    for parameter in network.parameters():
        parameter.data = formula(parameter.squeeze()).view_as(parameter)
    rows = torch.from_numpy(graph.train.nonzero()[0])
    loss = F.cross_entropy(network(x)[rows], torch.from_numpy(graph.labels)[rows])
    loss.backward()
    gradient = sum(p.grad.double().square().sum() for p in network.parameters()).sqrt()
    return loss.item(), gradient.item()


def dense(graph):
    return torch.from_numpy(graph.features.toarray() if sp.issparse(graph.features) else graph.features)


def formula(parameter):
    if parameter.dim() < 2:
        return torch.zeros_like(parameter)
    i, j = torch.meshgrid(*(torch.arange(float(size)) for size in parameter.shape), indexing="ij")
    return torch.sin(i * j + 0.7 * (i + j)) / 10


def report(dataset, kind, results):
    loss, gradient = next(iter(results.values()))
    wrong = 0
    for name, found in results.items():
        same = abs(found[0] / loss - 1) < 1e-4 and abs(found[1] / gradient - 1) < 1e-3
        wrong += not same
        print(f"{'ok  ' if same else 'DIFF'} {dataset} {kind} {name}: loss {found[0]:.6f} gradient {found[1]:.6f}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["cora"]))
