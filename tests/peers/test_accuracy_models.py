#!/usr/bin/env python3
"""The accuracy table's models compute what PyG's own modules do: same weights, no dropout, same output."""
import sys

import torch
import torch_geometric
import torch_geometric.nn as pyg
from torch_geometric.data import Data
from torch_geometric.transforms import SIGN

import data
from accuracy_models import Model, edges_for
from deep_models import Gcn2
from pyg_models import edge_index
from sign_model import powers

SETUP = {"layers": 2, "hidden": 8, "norm": "none", "activation": "elu", "dropout": 0.5, "inputDropout": 0.5,
         "attentionDropout": 0.5, "heads": 1, "outputHeads": 1, "hops": 2}
PLAIN = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv, "gat": lambda i, o: pyg.GATConv(i, o),
         "sgc": lambda i, o: pyg.SGConv(i, o, K=2), "gin": lambda i, o: pyg.GINConv(two_layers(i, o))}


def two_layers(inner, out):
    return torch.nn.Sequential(torch.nn.Linear(inner, 8), torch.nn.Identity(), torch.nn.ReLU(), torch.nn.Linear(8, out))


@torch.no_grad()
def main():
    graph = data.load("cora")
    wrong = 0
    for kind, plain in PLAIN.items():
        model = Model({**SETUP, "kind": kind}, graph).eval()
        h, edges = torch.from_numpy(graph.features.toarray()), edge_index(graph)
        for index, ours in enumerate(model.convolutions):
            theirs = plain(h.shape[1], graph.classes if index else SETUP["hidden"])
            theirs.load_state_dict(ours.state_dict())
            h = theirs(h if index == 0 else torch.nn.functional.elu(h), edges)
        wrong += differ(kind, model(), h)
    x, first = torch.rand(2, graph.vertices, 8)
    ours, theirs = Gcn2(8, 0.1, 0.5, 3), pyg.GCN2Conv(8, 0.1, 0.5, 3)
    theirs.load_state_dict(ours.state_dict())
    wrong += differ("gcnii", ours(x, first, edges_for("gcnii", graph)), theirs(x, first, edge_index(graph)))
    wrong += sum(differ(f"sign, power {hop}", ours, theirs) for hop, (ours, theirs) in enumerate(zip(powers_of(graph), pyg_powers(graph))))
    return 1 if wrong else 0


def powers_of(graph):
    return powers(torch.from_numpy(graph.features.toarray()), {"kind": "sign", "hops": 2}, graph)


def pyg_powers(graph):
    """Of the transform, which leaves self arcs to its user."""
    arcs, _ = torch_geometric.utils.add_self_loops(edge_index(graph), num_nodes=graph.vertices)
    made = SIGN(2)(Data(x=torch.from_numpy(graph.features.toarray()), edge_index=arcs, num_nodes=graph.vertices))
    return made.x, made.x1, made.x2


def differ(kind, ours, theirs):
    worst = (ours - theirs).abs().max().item()
    print(f"{'ok  ' if worst <= 1e-5 else 'DIFF'} {kind}: largest difference {worst:.1e}")
    return worst > 1e-5


sys.exit(main())
