"""Products with a sparse matrix of constant shape for PyTorch on a CPU, with the transpose kept.

PyTorch's own backward of a CSR product transposes the matrix at every step; who trains on one graph would not pay
for that twice. Indices are int32 because MKL wants them so and PyTorch else converts them at every call.
"""
import numpy as np
import scipy.sparse as sp
import torch
from torch import nn


class Pair:
    """A sparse matrix without gradient, and its transpose."""

    def __init__(self, csr, transposed):
        self.csr, self.transposed = csr, transposed                           # (rows, columns), (columns, rows)

    def __matmul__(self, x):
        return Product.apply(self.csr, self.transposed, x)


class Constant(Pair):
    """The pair of a SciPy matrix, made once; the same object twice where it is symmetric."""

    def __init__(self, matrix, symmetric=False):
        csr = torch_csr(matrix)
        super().__init__(csr, csr if symmetric else torch_csr(matrix.T.tocsr()))


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, matrix, transposed, x):
        ctx.transposed = transposed
        return product(matrix, x)

    @staticmethod
    def backward(ctx, gradient):
        return None, None, product(ctx.transposed, gradient)


def product(matrix, x):
    """PyTorch has two kernels: its own wins on wide rows (by 1.3 to 1.6 at 64 to 256 columns), MKL's on narrow ones."""
    return torch.sparse.mm(matrix, x, "sum") if x.shape[1] >= 32 else matrix @ x


class SparseLinear(nn.Module):
    """A linear layer on one constant sparse input, known when it is made; takes a library's dense layer's place."""

    def __init__(self, features, out, bias=False):
        super().__init__()
        self.features = features                                              # Constant (n, in)
        self.weight = nn.Parameter(torch.empty(features.csr.shape[1], out))   # (in, out)
        self.bias = nn.Parameter(torch.zeros(out)) if bias else None
        nn.init.xavier_uniform_(self.weight)

    def forward(self, _):
        out = self.features @ self.weight
        return out if self.bias is None else out + self.bias


class Pattern:
    """Where a matrix has entries, to be filled with values that change; the transpose knows where each of them goes."""

    def __init__(self, matrix):
        numbered = matrix.tocsr(copy=True)
        numbered.sort_indices()
        self.values = torch.from_numpy(numbered.data.astype(np.float32))
        numbered.data = np.arange(1, numbered.nnz + 1)            # from 1: SciPy may drop zeros
        turned = numbered.T.tocsr()
        self.shape = numbered.shape
        self.rows, self.columns = index(numbered.indptr), index(numbered.indices)
        self.turned_rows, self.turned_columns = index(turned.indptr), index(turned.indices)
        self.order = torch.from_numpy(turned.data - 1)

    def filled(self, values):
        return torch.sparse_csr_tensor(self.rows, self.columns, values, self.shape)

    def filled_transpose(self, values):
        return torch.sparse_csr_tensor(self.turned_rows, self.turned_columns, values[self.order], self.shape[::-1])


def torch_csr(matrix):
    matrix = matrix.tocsr()
    matrix.sort_indices()
    values = torch.from_numpy(matrix.data.astype(np.float32))
    return torch.sparse_csr_tensor(index(matrix.indptr), index(matrix.indices), values, matrix.shape)


def index(array):
    return torch.from_numpy(array.astype(np.int32))


def adjacency(graph):
    """(n, n) with a one at (destination, source) of each arc."""
    ones = np.ones(len(graph.src), np.float32)
    return sp.csr_matrix((ones, (graph.dst, graph.src)), shape=(graph.vertices, graph.vertices))


def without_self_arcs(matrix):
    return (matrix - sp.diags(matrix.diagonal())).tocsr()


def with_self_arcs(matrix):
    """Exactly one self arc a vertex, whatever the source has."""
    return (without_self_arcs(matrix) + sp.eye(matrix.shape[0], dtype=np.float32)).tocsr()


def gcn_adjacency(graph):
    matrix = with_self_arcs(adjacency(graph))
    scale = sp.diags(1 / np.sqrt(np.asarray(matrix.sum(1)).ravel()))
    return (scale @ matrix @ scale).tocsr()


def mean_adjacency(graph):
    matrix = adjacency(graph)
    return (sp.diags(1 / np.maximum(np.asarray(matrix.sum(1)).ravel(), 1)) @ matrix).tocsr()
