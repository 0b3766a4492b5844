"""DGL's ways of training GraphSAGE on mini-batches: its neighbour sampler and GraphBolt, with 0 to 2 worker processes. Fanouts come
from the input layer, as in the cases."""
import dgl
import dgl.graphbolt as gb
import dgl.nn.pytorch as dglnn
import torch
import torch.nn.functional as F
from torch import nn

from dgl_models import dgl_graph
from network import sizes


class BlockSage(nn.Module):
    """The model over a batch's blocks, one a layer."""

    def __init__(self, case, graph):
        super().__init__()
        self.layers = nn.ModuleList(dglnn.SAGEConv(inner, out, "mean") for inner, out in sizes(case, graph))
        self.dropout = nn.Dropout(case["dropout"])

    def forward(self, blocks, h):
        for index, (layer, block) in enumerate(zip(self.layers, blocks)):
            h = layer(block, h)
            if index + 1 < len(self.layers):
                h = self.dropout(F.relu(h))
        return h


def neighbour(case, graph, x, rows, workers):
    """One epoch after the other: (blocks, input rows' features, vertices to train on) of each batch."""
    loader = dgl.dataloading.DataLoader(dgl_graph(graph), rows.int(), dgl.dataloading.NeighborSampler(case["fanout"]),
                                        batch_size=case["batchSize"], shuffle=True, drop_last=False, num_workers=workers)
    while True:
        yield ((blocks, x[inputs.long()], outputs.long()) for inputs, outputs, blocks in loader)


def graphbolt(case, graph, x, rows, workers):
    features = gb.BasicFeatureStore({("node", None, "feat"): gb.TorchBasedFeature(x)})
    pipe = gb.ItemSampler(gb.ItemSet(rows, names="seeds"), batch_size=case["batchSize"], shuffle=True)
    pipe = pipe.sample_neighbor(gb.from_dglgraph(dgl_graph(graph)), case["fanout"])
    pipe = pipe.fetch_feature(features, node_feature_keys=["feat"])
    loader = gb.DataLoader(pipe, num_workers=workers)
    while True:
        yield ((batch.blocks, batch.node_features["feat"], batch.seeds.long()) for batch in loader)


VARIANTS = {f"{way.__name__}-{workers}": (way, workers) for way in (neighbour, graphbolt) for workers in (0, 1, 2)}


def epochs(case, variant, graph, x, rows):
    way, workers = VARIANTS[variant]
    return way(case, graph, x, rows, workers)
