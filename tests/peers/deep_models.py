"""PyG's GCNII and ResGCN+ for the accuracy tables: an encoder of the input, blocks of one width, and a linear layer behind them.

PyG's convolutions keep their parameters, but multiply by a stored CSR matrix, as those of accuracy_models.py do.
"""
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import nn

from accuracy_models import Sage, edges_for, input_of, norm_of, times
from sign_model import Sign


class Deep(nn.Module):
    def __init__(self, setup, graph):
        super().__init__()
        self.input, self.edges = input_of(setup, graph), edges_for(setup["kind"], graph)
        self.dropout, width = setup["dropout"], setup["hidden"]
        self.encoder = pyg.Linear(graph.features.shape[1], width, weight_initializer="glorot")
        self.convolutions = nn.ModuleList(self.convolution(setup, layer) for layer in range(1, setup["layers"] + 1))
        self.norms = nn.ModuleList(norm_of(setup, width) for _ in range(setup["layers"] + 1))
        self.last = pyg.Linear(width, graph.classes, weight_initializer="glorot")

    def encoded(self):
        return times(self.input(), self.encoder) + self.encoder.bias

    def dropped(self, h):
        return F.dropout(h, self.dropout, self.training)


class Gcnii(Deep):
    def convolution(self, setup, layer):
        return Gcn2(setup["hidden"], setup["alpha"], setup["lambda"], layer)

    def forward(self):
        first = h = torch.relu(self.encoded())
        for convolution, norm in zip(self.convolutions, self.norms):
            h = torch.relu(norm(convolution(self.dropped(h), first, self.edges)))
        return self.last(self.dropped(h))


class Gcn2(pyg.GCN2Conv):
    def forward(self, x, first, edges):
        mixed = (1 - self.alpha) * (edges @ x) + self.alpha * first
        return torch.addmm(mixed, mixed, self.weight1, beta=1 - self.beta, alpha=self.beta)


class ResGcn(Deep):
    """Norm, ReLU and dropout stand before each convolution but the first, and before the last linear layer."""

    def convolution(self, setup, layer):
        return Sage(setup["hidden"], setup["hidden"])

    def forward(self):
        h = self.encoded()
        for index, convolution in enumerate(self.convolutions):
            h = h + convolution(h if index == 0 else self.started(index, h), self.edges)
        return self.last(self.started(len(self.convolutions), h))

    def started(self, index, h):
        return self.dropped(torch.relu(self.norms[index](h)))


DEEP = {"gcnii": Gcnii, "resgcn": ResGcn, "sign": Sign}


def model_of(setup, graph, plain):
    return DEEP.get(setup["kind"], plain)(setup, graph)
