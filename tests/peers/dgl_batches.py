"""DGL's ways of training GraphSAGE on mini-batches: its neighbour sampler and GraphBolt, with 0 to 2 worker processes. Fanouts come
from the input layer, as in the cases."""
from dataclasses import dataclass

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
    loader = dgl.dataloading.DataLoader(dgl_graph(graph), rows.int(), dgl.dataloading.NeighborSampler(case["fanout"]),
                                        batch_size=case["batchSize"], shuffle=True, drop_last=False, num_workers=workers)
    if x is None:
        return Loader(loader, lambda batch: sum(block.num_edges() for block in batch[2]))
    return Loader(loader, lambda batch: (batch[2], x[batch[0].long()], batch[1].long()))


def graphbolt(case, graph, x, rows, workers):
    pipe = gb.ItemSampler(gb.ItemSet(rows.int(), names="seeds"), batch_size=case["batchSize"], shuffle=True)
    pipe = pipe.sample_neighbor(gb.from_dglgraph(dgl_graph(graph), is_homogeneous=True), case["fanout"])
    if x is None:
        return Loader(gb.DataLoader(pipe, num_workers=workers),
                      lambda batch: sum(len(hop.sampled_csc.indices) for hop in batch.sampled_subgraphs))
    features = gb.BasicFeatureStore({("node", None, "feat"): gb.TorchBasedFeature(x)})
    pipe = pipe.fetch_feature(features, node_feature_keys=["feat"])
    return Loader(gb.DataLoader(pipe, num_workers=workers),
                  lambda batch: (batch.blocks, batch.node_features["feat"], batch.seeds.long()))


@dataclass
class Loader:
    """Each iteration is an epoch."""
    batches: object
    view: object

    def __iter__(self):
        return map(self.view, self.batches)


VARIANTS = {f"{way.__name__}-{workers}": (way, workers) for way in (neighbour, graphbolt) for workers in (0, 1, 2)}


def epochs(case, variant, graph, x, rows):
    """A batch is (blocks, its input rows of x, vertices to train on); where x is None, the number of arcs that were drawn for it."""
    way, workers = VARIANTS[variant]
    return way(case, graph, x, rows, workers)


def accuracy(network, graph, x, labels, rows):
    """Exact: over all neighbours."""
    network.eval()
    with torch.no_grad():
        found = network([dgl_graph(graph)] * len(network.layers), x).argmax(1)
    network.train()
    return float((found == labels)[torch.from_numpy(rows)].float().mean())
