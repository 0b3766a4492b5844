#!/usr/bin/env python3
"""Measures PyG's test accuracy for every cell (data set, model, seed) of accuracy_cases.json, or of defaults_cases.json.

Each finished cell is one JSON line in docs/benchmarks/accuracy-peers.json, or defaults-peers.json; cells already there are skipped,
so a run may be cut short and taken up again. A cell measured with another set-up than the table now states is measured anew.
"""
import argparse
import hashlib
import json
import os
import re
import time
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--only", default=".*", help="a regular expression for the cell's name, dataset-model-seed")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--cases", choices=("accuracy", "defaults"), default="accuracy", help="which table of cases")
arguments = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(arguments.threads)   # read by PyTorch when it loads

import torch
import torch.nn.functional as F
import torch_geometric

import data
from accuracy_models import Model
from deep_models import model_of
from metrics import METRICS

STORE = Path(__file__).parents[2] / f"docs/benchmarks/{arguments.cases}-peers.json"
TABLE = json.loads((Path(__file__).parent / f"{arguments.cases}_cases.json").read_text())


def main():
    torch.set_num_threads(arguments.threads)
    STORE.parent.mkdir(parents=True, exist_ok=True)
    done = stored()
    for setup, seed in cells():
        name = f"{setup['dataset']}-{setup['model']}-{seed}"
        if not re.fullmatch(arguments.only, name) or done.get(name) == fingerprint(setup):
            continue
        result = {"cell": name, "peer": f"pyg {torch_geometric.__version__}", "torch": torch.__version__,
                  "setup": fingerprint(setup), **measure(setup, seed)}
        with STORE.open("a") as store:
            store.write(json.dumps(result) + "\n")
        print(json.dumps(result), flush=True)


def cells():
    """Small data sets first, as the table lists them."""
    for dataset in TABLE["datasets"]:
        own = {key: value for key, value in dataset.items() if key not in ("name", "seeds")}
        for model, seeds in dataset["seeds"].items():
            setup = {**TABLE["defaults"], **TABLE["models"][model], **own, "dataset": dataset["name"], "model": model}
            yield from ((setup, seed) for seed in range(1, seeds + 1))


def stored():
    if not STORE.exists():
        return {}
    lines = map(json.loads, STORE.read_text().splitlines())
    return {line["cell"]: line["setup"] for line in lines}


def fingerprint(setup):
    return hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:12]


def measure(setup, seed):
    start = time.perf_counter()
    torch.manual_seed(seed)
    column = seed - 1 if setup["splits"] > 1 else 0
    graph = data.load(setup["dataset"], column)
    if setup["normaliseFeatures"] == "row":
        graph.features = data.row_normalised(graph.features)
    model = model_of(setup, graph, Model)
    optimiser = torch.optim.Adam(groups(model, setup["weightDecay"]), setup["learningRate"])
    metric, masks = METRICS[setup["metric"]], [torch.from_numpy(mask) for mask in (graph.train, graph.val, graph.test)]
    labels = torch.from_numpy(graph.labels)
    best = {"validation": -1.0}
    for epoch in range(1, setup["epochs"] + 1):
        train_epoch(model, optimiser, labels, masks[0], setup.get("clipNorm"))
        if epoch % setup["evaluateEvery"] == 0:
            validation, test = evaluate(model, metric, labels, masks[1:])
            if validation > best["validation"]:
                best = {"validation": validation, "test": test, "bestEpoch": epoch}
    return {"seed": seed, "splitColumn": column, "metric": setup["metric"], **best,
            "seconds": round(time.perf_counter() - start, 1)}


def groups(model, decay):
    """Convolutions and the other layers apart, as `decay` is where it isn't one number."""
    if not isinstance(decay, dict):
        decay = {"convolutions": decay, "dense": decay}
    named = {"convolutions": [], "dense": []}
    for name, parameter in model.named_parameters():
        named["convolutions" if name.startswith("convolutions.") else "dense"].append(parameter)
    return [{"params": parameters, "weight_decay": decay[group]} for group, parameters in named.items() if parameters]


def train_epoch(model, optimiser, labels, mask, clip_norm):
    model.train()
    optimiser.zero_grad()
    F.cross_entropy(model()[mask], labels[mask]).backward()
    if clip_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimiser.step()


@torch.no_grad()
def evaluate(model, metric, labels, masks):
    model.eval()
    logits = model()
    return [metric(logits[mask].numpy(), labels[mask].numpy()) for mask in masks]


main()
