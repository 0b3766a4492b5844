"""GAT's attention for PyTorch without a matrix of arcs × heads × columns: one sparse product a head.

PyG gathers a row of every head for every arc (9 GiB on ogbn_arxiv). A user who minds writes this instead: the
softmax is over arcs × heads numbers only, the sum is a CSR product with the attention as its values, and the
gradient of the attention a product sampled at the arcs.
"""
import torch
import torch.nn.functional as F

from sparse import Pattern, product


class Arcs(Pattern):
    """A graph's arcs as the pattern of an (n, n) matrix: rows are destinations. Every row must have an entry."""

    def __init__(self, matrix):
        super().__init__(matrix)
        self.source = self.columns.long()                                                     # (E,)
        self.offsets = self.rows.long()                                                       # (n + 1,)
        self.destination = torch.repeat_interleave(torch.arange(self.shape[0]), self.offsets.diff())


class WeightedSum(torch.autograd.Function):
    """out[v] = Σ over arcs u→v of weight · z[u], for one head: weight (E,), z (n, C)."""

    @staticmethod
    def forward(ctx, arcs, weight, z):
        ctx.arcs = arcs
        ctx.save_for_backward(weight, z)
        return product(arcs.filled(weight), z)

    @staticmethod
    def backward(ctx, gradient):
        weight, z = ctx.saved_tensors
        gradient = gradient.contiguous()
        blank = ctx.arcs.filled(torch.zeros_like(weight))
        sampled = torch.sparse.sampled_addmm(blank, gradient, z.T, beta=0)
        return None, sampled.values(), product(ctx.arcs.filled_transpose(weight), gradient)


def attend(convolution, z, arcs):
    """What GATConv does after its linear map, with its own parameters; z (n, heads × C)."""
    z = z.view(-1, convolution.heads, convolution.out_channels)
    score = (z * convolution.att_src).sum(-1)[arcs.source] + (z * convolution.att_dst).sum(-1)[arcs.destination]
    weight = softmax(F.leaky_relu(score, convolution.negative_slope), arcs)                   # (E, heads)
    weight = F.dropout(weight, convolution.dropout, convolution.training)
    heads = [WeightedSum.apply(arcs, weight[:, k].contiguous(), z[:, k].contiguous())
             for k in range(convolution.heads)]
    return torch.cat(heads, 1) + convolution.bias


def softmax(score, arcs):
    """Over the arcs into each vertex. The maximum only guards against overflow."""
    top = torch.segment_reduce(score.detach(), "max", offsets=arcs.offsets, axis=0)
    power = (score - top[arcs.destination]).exp()
    total = torch.zeros_like(top).index_add(0, arcs.destination, power)
    return power / total[arcs.destination]
