#!/usr/bin/env python3
"""Times a peer's training epochs on one case of cases.json and prints one JSON line.

An epoch is forward, loss over the training vertices, backward and Adam's step in fp32, no evaluation (but with --curve); with
--sampling, drawing its batches and nothing else. The allocator is the environment's: bench sets it. Peak memory is the process's largest resident set;
startMemoryBytes is what the libraries alone take before any data is read.
"""
import argparse
import json
import os
import resource
import statistics
import time

os.environ.setdefault("DGLBACKEND", "pytorch")
parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--case", required=True, help="a name of cases.json")
parser.add_argument("--peer", required=True, choices=["pyg", "dgl"])
parser.add_argument("--variant", required=True, help="a name of the peer's VARIANTS")
parser.add_argument("--features", choices=["sparse", "dense"], help="instead of the case's own")
parser.add_argument("--epochs", type=int, help="instead of the case's own")
parser.add_argument("--seconds", type=float, default=60, help="start no further epoch after this long")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--sampling", action="store_true", help="draw batches, don't train on them")
parser.add_argument("--curve", type=int, metavar="SEED", help="the validation accuracy after each epoch, from this seed")
arguments = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(arguments.threads)   # read by the libraries when they load
# PyG's edge by edge way takes more than the machine has on large graphs: it should fail, not take others
# along.
resource.setrlimit(resource.RLIMIT_AS, (18 << 30, 18 << 30))

import scipy.sparse as sp
import torch
import torch.nn.functional as F

import cases
import data
import sparse
if arguments.peer == "pyg":
    import pyg_models as models
else:
    import dgl_models as models


def main():
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.curve or 1)
    case = cases.named(arguments.case)
    form = arguments.features or case["features"]
    start_memory = peak_memory()
    graph = data.load(case["dataset"])
    if arguments.sampling:
        seconds, arcs = sample(graph, case)
        print(json.dumps({"peer": arguments.peer, "case": arguments.case, "variant": arguments.variant,
                          "threads": arguments.threads, "epochs": len(seconds), "arcsPerSecond": sum(arcs) / sum(seconds)}))
        return
    x = input_of(graph, form)
    validation = []
    if "batchSize" in case:
        seconds, losses = train_batches(x, graph, case, validation)
    else:
        seconds, losses = train(models.build(case, arguments.variant, graph, x), x, graph, case)
    print(json.dumps({
        "peer": arguments.peer, "case": arguments.case, "variant": arguments.variant, "features": form,
        "threads": arguments.threads, "epochs": len(seconds), "epochSecondsMin": min(seconds),
        "epochSecondsMedian": statistics.median(seconds), "firstLoss": losses[0], "lastLoss": losses[-1],
        "peakMemoryBytes": peak_memory(), "startMemoryBytes": start_memory,
        **({"validation": validation} if validation else {})}))


def input_of(graph, form):
    if form == "sparse":
        return sparse.Constant(graph.features)
    dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    return torch.from_numpy(dense)


def train(network, x, graph, case):
    labels, rows = torch.from_numpy(graph.labels), torch.from_numpy(graph.train.nonzero()[0])
    labels = labels[rows]
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4)
    seconds, losses = [], []
    begin = time.perf_counter()
    while len(seconds) < (arguments.epochs or case["epochs"]) and time.perf_counter() - begin < arguments.seconds:
        start = time.perf_counter()
        optimiser.zero_grad()
        loss = F.cross_entropy(network(x)[rows], labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    return seconds, losses


def train_batches(x, graph, case, validation):
    """An epoch's loss is the mean over its batches'. With --curve, appends to `validation`."""
    import dgl_batches
    labels, rows = torch.from_numpy(graph.labels), torch.from_numpy(graph.train.nonzero()[0])
    network = dgl_batches.BlockSage(case, graph)
    optimiser = torch.optim.Adam(network.parameters(), lr=case["learningRate"], weight_decay=case["weightDecay"])
    epochs = dgl_batches.epochs(case, arguments.variant, graph, x, rows)
    seconds, losses = [], []
    begin = time.perf_counter()
    while len(seconds) < (arguments.epochs or case["epochs"]) and time.perf_counter() - begin < arguments.seconds:
        start, sums = time.perf_counter(), []
        for blocks, inputs, seeds in epochs:
            optimiser.zero_grad()
            loss = F.cross_entropy(network(blocks, inputs), labels[seeds])
            loss.backward()
            optimiser.step()
            sums.append(loss.item())
        losses.append(statistics.mean(sums))
        seconds.append(time.perf_counter() - start)
        if arguments.curve:
            validation.append(dgl_batches.accuracy(network, graph, x, labels, graph.val))
    return seconds, losses


def sample(graph, case):
    import dgl_batches
    rows = torch.from_numpy(graph.train.nonzero()[0])
    epochs = dgl_batches.epochs(case, arguments.variant, graph, None, rows)
    seconds, arcs = [], []
    sum(epochs)   # the first claims memory
    begin = time.perf_counter()
    while len(seconds) < (arguments.epochs or case["epochs"]) and time.perf_counter() - begin < arguments.seconds:
        start = time.perf_counter()
        arcs.append(sum(epochs))
        seconds.append(time.perf_counter() - start)
    return seconds, arcs


def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


main()
