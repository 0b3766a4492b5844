"""PyG's SIGN for the accuracy table: its transform's powers, computed once, a linear map for each side by side, and one over all."""
import scipy.sparse as sp
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import nn

from accuracy_models import edges_for, norm_of


class Sign(nn.Module):
    def __init__(self, setup, graph):
        super().__init__()
        features = graph.features.toarray() if sp.issparse(graph.features) else graph.features
        self.powers, self.dropout, self.rate = powers(torch.from_numpy(features), setup, graph), setup["dropout"], setup["inputDropout"]
        self.hops = nn.ModuleList(pyg.Linear(features.shape[1], setup["hidden"], weight_initializer="glorot", bias_initializer="zeros")
                                  for _ in self.powers)
        self.norm = norm_of(setup, setup["hidden"] * len(self.powers))
        self.last = pyg.Linear(setup["hidden"] * len(self.powers), graph.classes, weight_initializer="glorot", bias_initializer="zeros")

    def forward(self):
        h = torch.cat([hop(F.dropout(power, self.rate, self.training)) for hop, power in zip(self.hops, self.powers)], dim=1)
        return self.last(F.dropout(F.relu(self.norm(h)), self.dropout, self.training))


def powers(features, setup, graph):
    edges, all_powers = edges_for(setup["kind"], graph), [features]
    for _ in range(setup["hops"]):
        all_powers.append(edges @ all_powers[-1])
    return all_powers
