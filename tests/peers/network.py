"""What all timed models share: a stack of convolutions, and the convolutions a user would write by hand.

The libraries' own modules choose their order of work once and for all. The hand-written ones below aggregate before
the transform where the input is no wider than the output, and after it else, on whichever aggregation a peer is
fastest at.
"""
import torch
import torch.nn.functional as F
from torch import nn

from sparse import Constant, SparseLinear


class Network(nn.Module):
    """Convolutions with activation and dropout between them; the input itself is not dropped."""

    def __init__(self, convolutions, kind, dropout):
        super().__init__()
        self.convolutions = nn.ModuleList(convolutions)
        self.activation = F.elu if kind == "gat" else F.relu
        self.dropout = dropout

    def forward(self, h):
        for convolution in self.convolutions[:-1]:
            h = self.activation(convolution(h))
            h = F.dropout(h, self.dropout, self.training)
        return self.convolutions[-1](h)


class Bound(nn.Module):
    """A library's convolution with its graph already given."""

    def __init__(self, convolution, call):
        super().__init__()
        self.convolution = convolution
        self.call = call

    def forward(self, h):
        return self.call(self.convolution, h)


def sizes(case, graph):
    """(in, out) of each layer; attention's hidden layers put their heads side by side, its last has one head."""
    wide = case["hidden"] * case.get("heads", 1)
    widths = [graph.features.shape[1]] + [wide] * (case["layers"] - 1) + [graph.classes]
    return list(zip(widths[:-1], widths[1:]))


def linear(h, inner, out, bias=False):
    """A linear layer for input `h`, which may be a constant sparse matrix."""
    if isinstance(h, Constant):
        return SparseLinear(h, out, bias)
    layer = nn.Linear(inner, out, bias)
    nn.init.xavier_uniform_(layer.weight)
    return layer


class HandGcn(nn.Module):
    def __init__(self, aggregate, h, inner, out):
        super().__init__()
        self.aggregate = aggregate
        self.aggregate_first = inner <= out and not isinstance(h, Constant)
        self.linear = linear(h, inner, out, self.aggregate_first)
        self.bias = None if self.aggregate_first else nn.Parameter(torch.zeros(out))

    def forward(self, h):
        if self.aggregate_first:
            return self.linear(self.aggregate(h))
        return self.aggregate(self.linear(h)) + self.bias


class HandSage(nn.Module):
    def __init__(self, aggregate, h, inner, out):
        super().__init__()
        self.aggregate = aggregate
        self.aggregate_first = inner <= out and not isinstance(h, Constant)
        self.own = linear(h, inner, out, bias=True)
        self.neighbours = linear(h, inner, out)

    def forward(self, h):
        if self.aggregate_first:
            return self.own(h) + self.neighbours(self.aggregate(h))
        return self.own(h) + self.aggregate(self.neighbours(h))


class Precomputed(nn.Module):
    """A first layer whose constant, dense input was aggregated once before training: gcn's ÂX, sage's [X, mean X]."""

    def __init__(self, aggregate, h, inner, out, keep_own):
        super().__init__()
        self.input = torch.cat([h, aggregate(h)], 1) if keep_own else aggregate(h)
        self.parts = nn.ModuleList(linear(h, inner, out) for _ in range(2 if keep_own else 1))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, _):
        return F.linear(self.input, torch.cat([part.weight for part in self.parts], 1), self.bias)


def hand_written(kind, aggregate, h, shapes, precompute):
    """The stack for input `h`; `precompute` where the first layer's aggregation is done once."""
    layer = {"gcn": HandGcn, "sage": HandSage}[kind]
    stack = []
    for index, (inner, out) in enumerate(shapes):
        if precompute and index == 0:
            stack.append(Precomputed(aggregate, h, inner, out, keep_own=kind == "sage"))
        else:
            stack.append(layer(aggregate, h if index == 0 else None, inner, out))
    return stack
