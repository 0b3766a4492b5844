#!/usr/bin/env python3
"""Epochs of gcn and sage in PyTorch with cuSPARSE (torch.sparse), and of gat in PyG, on a data set of Atoll's: what `check` puts beside
its own. Each backward pass of a sum is given its transposed matrix, so that nothing is transposed in a step.
    tests/gpu/peer_epochs.py DATASET      prints one JSON object per line"""
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

EPOCHS, LAYERS = 23, 3


class Sum(torch.autograd.Function):
    """A · x, whose gradient is Aᵀ · d."""

    @staticmethod
    def forward(ctx, x, matrix, transposed):
        ctx.transposed = transposed
        return matrix @ x

    @staticmethod
    def backward(ctx, d):
        return ctx.transposed @ d.contiguous(), None, None


def csr(rows, columns, values, n):
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (n, n)).coalesce().to_sparse_csr()


class Graph:
    def __init__(self, folder):
        offsets, columns = np.load(folder / "offsets.npy"), np.load(folder / "columns.npy")
        self.n = len(offsets) - 1
        self.x = torch.from_numpy(np.load(folder / "features.npy").astype(np.float32)).cuda()
        self.y = torch.from_numpy(np.load(folder / "labels.npy").astype(np.int64)).cuda()
        split = np.load(next(folder.glob("split_*.npy")))
        self.train = torch.from_numpy(np.flatnonzero(split.reshape(self.n, -1)[:, 0] == 1)).cuda()
        self.classes = int(self.y.max()) + 1
        self.rows = torch.from_numpy(np.repeat(np.arange(self.n), np.diff(offsets))).cuda()
        self.columns = torch.from_numpy(columns.astype(np.int64)).cuda()

    def gcn(self):
        loops = torch.arange(self.n, device="cuda")
        rows, columns = torch.cat([self.rows, loops]), torch.cat([self.columns, loops])
        scale = torch.bincount(rows, minlength=self.n).float().rsqrt()
        matrix = csr(rows, columns, scale[rows] * scale[columns], self.n)
        return matrix, matrix  # symmetric

    def mean(self):
        scale = 1 / torch.bincount(self.rows, minlength=self.n).clamp(min=1).float()
        values = scale[self.rows]
        return csr(self.rows, self.columns, values, self.n), csr(self.columns, self.rows, values, self.n)


class Gcn(torch.nn.Module):
    def __init__(self, graph, hidden):
        super().__init__()
        widths = [graph.x.shape[1]] + [hidden] * (LAYERS - 1) + [graph.classes]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:]))
        self.biases = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(b)) for b in widths[1:])
        self.matrix, self.transposed = graph.gcn()

    def forward(self, h):
        for i, layer in enumerate(self.layers):
            h = Sum.apply(layer(h), self.matrix, self.transposed) + self.biases[i]
            if i + 1 < LAYERS:
                h = F.dropout(F.relu(h), 0.5, self.training)
        return h


class Sage(torch.nn.Module):
    def __init__(self, graph, hidden):
        super().__init__()
        widths = [graph.x.shape[1]] + [hidden] * (LAYERS - 1) + [graph.classes]
        self.own = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.neighbours = torch.nn.ModuleList(torch.nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:]))
        self.matrix, self.transposed = graph.mean()

    def forward(self, h):
        for i in range(LAYERS):
            h = self.own[i](h) + self.neighbours[i](Sum.apply(h, self.matrix, self.transposed))
            if i + 1 < LAYERS:
                h = F.dropout(F.relu(h), 0.5, self.training)
        return h


class Gat(torch.nn.Module):
    def __init__(self, graph, hidden, heads):
        super().__init__()
        from torch_geometric.nn import GATConv
        widths = [graph.x.shape[1]] + [hidden] * (LAYERS - 1)
        self.layers = torch.nn.ModuleList(GATConv(a, b // heads, heads, dropout=0.6) for a, b in zip(widths, widths[1:]))
        self.layers.append(GATConv(hidden, graph.classes, 1, dropout=0.6))
        self.arcs = torch.stack([graph.columns, graph.rows])

    def forward(self, h):
        for i, layer in enumerate(self.layers):
            h = layer(h, self.arcs)
            if i + 1 < LAYERS:
                h = F.dropout(F.elu(h), 0.5, self.training)
        return h


def median_epoch(graph, model):
    model.cuda().train()
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    times = []
    for _ in range(EPOCHS):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        adam.zero_grad()
        F.cross_entropy(model(graph.x)[graph.train], graph.y[graph.train]).backward()
        adam.step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[3:])


def main():
    graph = Graph(Path(sys.argv[1]))
    for name, make in (("gcn", lambda: Gcn(graph, 256)), ("sage", lambda: Sage(graph, 256)), ("gat", lambda: Gat(graph, 256, 4))):
        try:
            seconds = median_epoch(graph, make())
        except Exception as error:  # one that isn't installed leaves the others
            print(json.dumps({"figure": "peer", "model": name, "error": str(error).splitlines()[0]}), flush=True)
            continue
        peer = "PyG" if name == "gat" else "PyTorch with torch.sparse"
        print(json.dumps({"figure": "peer", "model": name, "peer": peer, "torch": torch.__version__, "medianSeconds": seconds}), flush=True)
        torch.cuda.empty_cache()


main()
