"""PyG's ways of running each model: its own modules on each graph format it takes, and a user's code on the fastest."""
import torch
import torch_geometric.nn as pyg
from torch_geometric import EdgeIndex

import attention
import sparse
from network import Bound, Network, hand_written, linear, sizes


def build(case, variant, graph, x):
    """The network for input x: a dense tensor or a sparse.Constant."""
    return Network(VARIANTS[case["kind"]][variant](case, graph, x), case["kind"], case["dropout"])


def modules(case, graph, x, make, call, first="lin"):
    """A library module a layer; the first one's dense transform is replaced where the input is sparse."""
    stack = []
    for index, (inner, out) in enumerate(sizes(case, graph)):
        module = make(inner, out, index == case["layers"] - 1)
        if index == 0 and isinstance(x, sparse.Constant):
            setattr(module, first, linear(x, inner, out))
        stack.append(Bound(module, call))
    return stack


def gcn_edge_index(case, graph, x):
    edges = edge_index(graph)
    return modules(case, graph, x, lambda i, o, _: pyg.GCNConv(i, o, cached=True), on(edges))


def gcn_csr(case, graph, x):
    adjacency = sparse.torch_csr(sparse.gcn_adjacency(graph))
    return modules(case, graph, x, lambda i, o, _: pyg.GCNConv(i, o, normalize=False), on(adjacency))


def gcn_hand(precompute):
    def stack(case, graph, x):
        adjacency = sparse.Constant(sparse.gcn_adjacency(graph), symmetric=True)
        return hand_written("gcn", lambda h: adjacency @ h, x, sizes(case, graph), precompute)
    return stack


def sage_edge_index(case, graph, x):
    return modules(case, graph, x, lambda i, o, _: pyg.SAGEConv(i, o), on(edge_index(graph)))


def sage_csr(case, graph, x):
    adjacency = sparse.torch_csr(sparse.adjacency(graph))
    return modules(case, graph, x, lambda i, o, _: pyg.SAGEConv(i, o), on(adjacency))


def sage_cached(case, graph, x):
    """EdgeIndex keeps the transpose; for an unweighted graph it is PyG's own fast path."""
    size = (graph.vertices, graph.vertices)
    adjacency = EdgeIndex(torch.stack([torch.from_numpy(graph.dst), torch.from_numpy(graph.src)]), sparse_size=size,
                          sort_order="row", is_undirected=True).fill_cache_()
    return modules(case, graph, x, lambda i, o, _: TransposedSage(i, o), on(adjacency))


class TransposedSage(pyg.SAGEConv):
    """EdgeIndex multiplies sorted by row = destination, which SAGEConv else asks of the transposed matrix."""

    def propagate(self, edges, x, size=None):
        return edges.matmul(x[0], reduce="mean")


def sage_hand(precompute):
    def stack(case, graph, x):
        adjacency = sparse.Constant(sparse.mean_adjacency(graph))
        return hand_written("sage", lambda h: adjacency @ h, x, sizes(case, graph), precompute)
    return stack


def gat_edge_index(case, graph, x):
    edges = edge_index(graph, self_arcs=True)
    return modules(case, graph, x, lambda i, o, last: gat(case, i, o, last), on(edges))


def gat_by_head(case, graph, x):
    arcs = attention.Arcs(sparse.with_self_arcs(sparse.adjacency(graph)))
    return modules(case, graph, x, lambda i, o, last: gat(case, i, o, last),
                   lambda convolution, h: attention.attend(convolution, convolution.lin(h), arcs))


def gat(case, inner, out, last):
    heads = 1 if last else case["heads"]
    return pyg.GATConv(inner, out // heads, heads, add_self_loops=False)


def edge_index(graph, self_arcs=False):
    if not self_arcs:
        return torch.stack([torch.from_numpy(graph.src), torch.from_numpy(graph.dst)])
    matrix = sparse.with_self_arcs(sparse.adjacency(graph)).tocoo()
    return torch.stack([torch.from_numpy(matrix.col), torch.from_numpy(matrix.row)]).long()


def on(edges):
    def call(convolution, h):
        return convolution(h.csr if isinstance(h, sparse.Constant) else h, edges)
    return call


VARIANTS = {
    "gcn": {"edge_index": gcn_edge_index, "csr": gcn_csr, "hand": gcn_hand(False), "precomputed": gcn_hand(True)},
    "sage": {"edge_index": sage_edge_index, "csr": sage_csr, "cached": sage_cached, "hand": sage_hand(False),
             "precomputed": sage_hand(True)},
    "gat": {"edge_index": gat_edge_index, "by_head": gat_by_head},
}
