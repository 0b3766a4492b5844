#!/usr/bin/env python3
"""The accuracy table's models compute what PyG's own modules do: same weights, no dropout, same output."""
import sys

import torch
import torch_geometric.nn as pyg

import data
from accuracy_models import Model
from pyg_models import edge_index

SETUP = {"layers": 2, "hidden": 8, "norm": "none", "activation": "elu", "dropout": 0.5, "inputDropout": 0.5,
         "attentionDropout": 0.5, "heads": 1, "outputHeads": 1}
PLAIN = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv, "gat": lambda i, o: pyg.GATConv(i, o)}


@torch.no_grad()
def main():
    graph = data.load("cora")
    wrong = 0
    for kind, plain in PLAIN.items():
        model = Model({**SETUP, "kind": kind}, graph).eval()
        h, edges = torch.from_numpy(graph.features.toarray()), edge_index(graph)
        for index, ours in enumerate(model.convolutions):
            theirs = plain(h.shape[1], ours.out_channels)
            theirs.load_state_dict(ours.state_dict())
            h = theirs(h if index == 0 else torch.nn.functional.elu(h), edges)
        worst = (model() - h).abs().max().item()
        wrong += worst > 1e-5
        print(f"{'ok  ' if worst <= 1e-5 else 'DIFF'} {kind}: largest difference {worst:.1e}")
    return 1 if wrong else 0


sys.exit(main())
