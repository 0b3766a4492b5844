"""PyG's models for the accuracy table, with inputs that may be sparse and are dropped anew each epoch.

PyG's convolutions keep their parameters, but multiply by a stored CSR matrix, SAGE after its linear map and GAT a
head at a time: the same functions (test_accuracy_models.py) in a tenth of the time and memory.
"""
import scipy.sparse as sp
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import nn

import attention
import sparse


class Model(nn.Module):
    """Input dropout, then convolutions with norm, activation and dropout between them."""

    def __init__(self, setup, graph):
        super().__init__()
        self.activation, self.dropout = getattr(F, setup["activation"]), setup["dropout"]
        self.input = input_of(setup, graph)
        self.edges = edges_for(setup["kind"], graph)
        hidden = [setup["hidden"] * setup.get("heads", 1)] * (setup["layers"] - 1)
        self.convolutions = nn.ModuleList(convolutions(setup, [graph.features.shape[1], *hidden, graph.classes]))
        self.norms = nn.ModuleList(norm_of(setup, width) for width in hidden)

    def forward(self):
        h = self.input()
        for convolution, norm in zip(self.convolutions, self.norms):
            h = self.activation(norm(convolution(h, self.edges)))
            h = F.dropout(h, self.dropout, self.training)
        return self.convolutions[-1](h, self.edges)


def norm_of(setup, width):
    return {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm, "none": nn.Identity}[setup["norm"]](width)


def input_of(setup, graph):
    return (SparseInput if sp.issparse(graph.features) else DenseInput)(graph.features, setup["inputDropout"])


class DenseInput(nn.Module):
    def __init__(self, features, rate):
        super().__init__()
        self.features, self.rate = torch.from_numpy(features), rate

    def forward(self):
        return F.dropout(self.features, self.rate, self.training)


class SparseInput(nn.Module):
    """Drops stored entries only: dropping a zero changes nothing."""

    def __init__(self, features, rate):
        super().__init__()
        self.pattern, self.rate = sparse.Pattern(features), rate

    def forward(self):
        values = F.dropout(self.pattern.values, self.rate, self.training)
        return sparse.Pair(self.pattern.filled(values), self.pattern.filled_transpose(values))


class Gcn(pyg.GCNConv):
    def forward(self, x, edges):
        return edges @ times(x, self.lin) + self.bias


class Sage(pyg.SAGEConv):
    def forward(self, x, edges):
        return times(x, self.lin_r) + edges @ times(x, self.lin_l) + self.lin_l.bias


class Gat(pyg.GATConv):
    def forward(self, x, edges):
        return attention.attend(self, times(x, self.lin), edges)


class Sgc(pyg.SGConv):
    """Propagates behind the linear map, which is narrow."""

    def forward(self, x, edges):
        h = times(x, self.lin)
        for _ in range(self.K):
            h = edges @ h
        return h + self.lin.bias


class Gin(pyg.GINConv):
    """Sums behind the first linear map, whose bias comes after the sum."""

    def forward(self, x, edges):
        first, *rest = self.nn
        h = times(x, first)
        h = (1 + self.eps) * h + edges @ h + first.bias
        for module in rest:
            h = module(h)
        return h


def times(x, dense):
    """x, a tensor or sparse.Pair, times the layer's weight; its bias is not added."""
    return x @ dense.weight.t().contiguous()


def convolutions(setup, widths):
    for index, (inner, out) in enumerate(zip(widths[:-1], widths[1:])):
        if setup["kind"] == "gat":
            heads = setup["heads"] if index < setup["layers"] - 1 else setup["outputHeads"]
            yield Gat(inner, out // heads, heads, dropout=setup["attentionDropout"], add_self_loops=False)
        elif setup["kind"] == "gin":
            width = setup["hidden"]
            yield Gin(nn.Sequential(nn.Linear(inner, width), norm_of(setup, width), nn.ReLU(), nn.Linear(width, out)))
        elif setup["kind"] == "sgc":
            yield Sgc(inner, out, K=setup["hops"])
        else:
            yield {"gcn": Gcn, "sage": Sage}[setup["kind"]](inner, out)


def edges_for(kind, graph):
    if kind == "gat":
        return attention.Arcs(sparse.with_self_arcs(sparse.adjacency(graph)))
    if kind == "gin":
        return sparse.Constant(sparse.without_self_arcs(sparse.adjacency(graph)))
    if kind in ("gcn", "gcnii", "sgc", "sign"):
        return sparse.Constant(sparse.gcn_adjacency(graph), symmetric=True)
    return sparse.Constant(sparse.mean_adjacency(graph))
