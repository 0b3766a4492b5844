"""Link prediction in PyG, on a data set that Atoll has imported: the same edges, features, model, loss and rule of negative pairs.

    links.py DATASET --kind gcn --hidden 64 --layers 2 --epochs 200 --rate 0.01 --seed 1     prints one JSON object
"""
import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from torch import nn
from torch_geometric.utils import negative_sampling


class Encoder(nn.Module):
    def __init__(self, kind, widths):
        super().__init__()
        make = {"gcn": pyg.GCNConv, "sage": pyg.SAGEConv}[kind]
        self.convolutions = nn.ModuleList(make(a, b) for a, b in zip(widths, widths[1:]))

    def forward(self, x, edges):
        for convolution in self.convolutions[:-1]:
            x = F.relu(convolution(x, edges))
        return self.convolutions[-1](x, edges)


class Decoder(nn.Module):
    """The dot product of both ends' rows, or linear layers over their product."""

    def __init__(self, kind, width, layers):
        super().__init__()
        count = layers if kind == "mlp" else 0
        self.layers = nn.ModuleList(nn.Linear(width, width if i + 1 < count else 1) for i in range(count))

    def forward(self, rows, pairs):
        x = rows[pairs[0]] * rows[pairs[1]]
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x).squeeze(1) if self.layers else x.sum(dim=1)


def load(folder):
    """x (n, F), arcs (2, E) both ways, and the pairs of each set (2, pairs)."""
    offsets, columns = np.load(folder / "offsets.npy"), np.load(folder / "columns.npy").astype(np.int64)
    n = len(offsets) - 1
    rows = np.repeat(np.arange(n), np.diff(offsets))
    if (folder / "features.npy").exists():
        x = torch.from_numpy(np.load(folder / "features.npy").astype(np.float32))
    else:
        x = torch.zeros(n, json.loads((folder / "meta.json").read_text())["features"])
        at = np.repeat(np.arange(n), np.diff(np.load(folder / "feature_offsets.npy")))
        x[at, np.load(folder / "feature_columns.npy")] = torch.from_numpy(np.load(folder / "feature_values.npy"))
    sets = ("train", "validation", "test", "validation_negative", "test_negative")
    pairs = {name: torch.from_numpy(np.load(folder / f"edges_{name}.npy").astype(np.int64).T) for name in sets}
    return x, torch.from_numpy(np.stack([columns, rows])), pairs


def metrics(edges, negatives):
    """ROC AUC and average precision; no two scores are taken to be equal."""
    scores, truth = np.concatenate([edges, negatives]), np.arange(len(edges) + len(negatives)) < len(edges)
    truth = truth[np.argsort(-scores, kind="stable")]
    found = np.cumsum(truth)
    ranks = np.arange(1, len(truth) + 1)
    wrong_above = np.sum((ranks - found)[truth])
    best = np.sort(negatives)[::-1]
    hits = {f"hits@{k}": float(np.mean(edges > best[k - 1])) if k <= len(best) else 1.0 for k in (10, 20, 50, 100)}
    return {"rocAuc": 1 - float(wrong_above) / (len(edges) * len(negatives)),
            "averagePrecision": float(np.mean((found / ranks)[truth])), **hits}


def train(options):
    torch.manual_seed(options.seed)
    x, arcs, pairs = load(options.dataset)
    encoder = Encoder(options.kind, [x.shape[1]] + [options.hidden] * options.layers)
    decoder = Decoder(options.decoder, options.hidden, options.decoder_layers)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=options.rate)
    best, result = -1.0, {}
    for _ in range(options.epochs):
        optimizer.zero_grad()
        rows = encoder(x, arcs)
        positive = pairs["train"]
        negative = negative_sampling(arcs, x.shape[0], positive.shape[1])
        scores = decoder(rows, torch.cat([positive, negative], dim=1))
        wanted = (torch.arange(len(scores)) < positive.shape[1]).float()
        F.binary_cross_entropy_with_logits(scores, wanted).backward()
        optimizer.step()
        with torch.no_grad():
            rows = encoder(x, arcs)
            of = {name: decoder(rows, pairs[name]).numpy() for name in pairs if name != "train"}
        validation = metrics(of["validation"], of["validation_negative"])["rocAuc"]
        if validation > best:
            best, result = validation, metrics(of["test"], of["test_negative"])
    return {"validation": best, **result}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--kind", default="gcn", choices=("gcn", "sage"))
    parser.add_argument("--decoder", default="dot", choices=("dot", "mlp"))
    parser.add_argument("--decoder-layers", type=int, default=2)
    for name, default in (("hidden", 64), ("layers", 2), ("epochs", 200), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=0.01)
    print(json.dumps(train(parser.parse_args())))


if __name__ == "__main__":
    main()
