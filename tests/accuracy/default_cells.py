"""The cells of the table of defaults: manifests that name a data set and a kind of model, and nothing that a default gives."""
import json
from pathlib import Path

from accuracy_cells import Cell, name_of

HERE = Path(__file__).resolve().parent
REFERENCES = json.loads((HERE / "default_references.json").read_text())
KINDS = ("gcn", "sage", "gat", "gcnii", "resgcn", "sgc", "gin", "sign")
SEEDS = (1, 2, 3)
SPLITS = {"tolokers": 10}  # columns of a split that was drawn several times: a seed takes its own
METRICS = {"tolokers": "rocAuc"}
LARGE = ("ogbn_arxiv",)  # last


def datasets():
    return [*(name for name in REFERENCES["datasets"] if name not in LARGE), *LARGE]


def all_cells():
    """Each seed of the small sets before the next, so that a run cut short has all kinds."""
    small = [name for name in datasets() if name not in LARGE]
    for group in (small, LARGE):
        for seed in SEEDS:
            for dataset in group:
                yield from (cell(dataset, kind, seed) for kind in KINDS)


def cell(dataset, kind, seed):
    name = name_of(dataset, kind, seed, 1)
    training = {"seed": seed} | ({"metric": METRICS[dataset]} if dataset in METRICS else {})
    job = {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": name.replace("_", "-")},
           "spec": {"dataset": {"name": dataset} | ({"splitColumn": seed - 1} if dataset in SPLITS else {}),
                    "model": {"kind": kind}, "training": training}}
    return Cell(name, dataset, json.dumps(job), [])
