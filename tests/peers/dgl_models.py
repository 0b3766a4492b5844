"""DGL's ways of running each model: its own modules, and a user's code on its kernels. Graphs have int32 ids."""
import dgl
import dgl.nn.pytorch as dglnn
import torch
from dgl import ops
from torch import nn

import sparse
from network import Bound, Network, hand_written, linear, sizes


def build(case, variant, graph, x):
    """The network for input x: a dense tensor or a sparse.Constant."""
    return Network(VARIANTS[case["kind"]][variant](case, graph, x), case["kind"], case["dropout"])


def gcn_modules(case, graph, x):
    g = dgl_graph(graph, self_arcs=True)
    stack = []
    for index, (inner, out) in enumerate(sizes(case, graph)):
        given = index == 0 and isinstance(x, sparse.Constant)     # the product with sparse features comes before it
        module = dglnn.GraphConv(inner, out, weight=not given, allow_zero_in_degree=True)
        if given:
            module.add_module("first", linear(x, inner, out))
        stack.append(Bound(module, gcn_call(g, given)))
    return stack


def gcn_call(g, given):
    return (lambda module, _: module(g, module.first(None))) if given else (lambda module, h: module(g, h))


def sage_modules(case, graph, x):
    g = dgl_graph(graph)
    stack = []
    for index, (inner, out) in enumerate(sizes(case, graph)):
        module = dglnn.SAGEConv(inner, out, "mean")
        if index == 0 and isinstance(x, sparse.Constant):
            module.feat_drop = nn.Identity()                      # dropout, even at rate 0, refuses sparse input
            module.fc_neigh, module.fc_self = linear(x, inner, out), linear(x, inner, out, bias=True)
        stack.append(Bound(module, on(g)))
    return stack


def gat_modules(case, graph, x):
    g = dgl_graph(graph, self_arcs=True)
    stack = []
    for index, (inner, out) in enumerate(sizes(case, graph)):
        heads = case["heads"] if index < case["layers"] - 1 else 1
        module = dglnn.GATConv(inner, out // heads, heads, allow_zero_in_degree=True)
        if index == 0 and isinstance(x, sparse.Constant):
            module.feat_drop, module.fc = nn.Identity(), linear(x, inner, out)
        stack.append(Bound(module, lambda module, h: on(g)(module, h).flatten(1)))
    return stack


def on(g):
    return lambda module, h: module(g, h.csr if isinstance(h, sparse.Constant) else h)


def hand(kind, precompute):
    def stack(case, graph, x):
        aggregate = {"gcn": symmetric_sum, "sage": mean}[kind](graph)
        return hand_written(kind, aggregate, x, sizes(case, graph), precompute)
    return stack


def symmetric_sum(graph):
    g = dgl_graph(graph, self_arcs=True)
    scale = g.in_degrees().float().pow(-0.5).unsqueeze(1)
    return lambda h: scale * ops.copy_u_sum(g, scale * h)


def mean(graph):
    g = dgl_graph(graph)
    scale = 1 / g.in_degrees().clamp(min=1).float().unsqueeze(1)
    return lambda h: scale * ops.copy_u_sum(g, h)


def dgl_graph(graph, self_arcs=False):
    arcs = torch.from_numpy(graph.src), torch.from_numpy(graph.dst)
    g = dgl.graph(arcs, num_nodes=graph.vertices)
    if self_arcs:
        g = dgl.add_self_loop(dgl.remove_self_loop(g))
    g = g.int()
    g.create_formats_()                                           # now, not in the first epoch
    return g


VARIANTS = {
    "gcn": {"modules": gcn_modules, "hand": hand("gcn", False), "precomputed": hand("gcn", True)},
    "sage": {"modules": sage_modules, "hand": hand("sage", False), "precomputed": hand("sage", True)},
    "gat": {"modules": gat_modules},
}
