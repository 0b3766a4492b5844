"""The cells of the accuracy tables: what is trained, and what it is compared with."""
import json
from dataclasses import dataclass
from pathlib import Path

from manifest import manifest

HERE = Path(__file__).resolve().parent
PEERS = json.loads((HERE.parent / "peers" / "accuracy_cases.json").read_text())
# Published test accuracy on Cora's public split with the set-ups of manifests/examples; a mean may be 0.5 points below.
CORA = {"gcn": 81.5, "gat": 83.0, "sage": 83.3, "gcnii": 85.5}
CORA_SEEDS = 10


@dataclass
class Cell:
    name: str      # dataset-model-seed, or with -r<ranks> behind
    dataset: str
    manifest: str  # text
    changes: list  # of it, as `--set` takes them


def all_cells():
    """Cora first, then the others as the peers' table lists them, small ones first; ranks 2 and 4 for one seed each."""
    for kind in CORA:
        for seed in range(1, CORA_SEEDS + 1):
            yield cora_cell(kind, seed, 1)
        yield from (cora_cell(kind, 1, ranks) for ranks in (2, 4))
    for setup, seeds in peer_setups():
        for seed in range(1, seeds + 1):
            yield peer_cell(setup, seed, 1)
        yield from (peer_cell(setup, 1, ranks) for ranks in (2, 4))


def peer_setups():
    for dataset in PEERS["datasets"]:
        own = {key: value for key, value in dataset.items() if key not in ("name", "seeds")}
        for model, seeds in dataset["seeds"].items():
            yield {**PEERS["defaults"], **PEERS["models"][model], **own, "dataset": dataset["name"], "model": model}, seeds


def cora_cell(kind, seed, ranks):
    text = (HERE.parents[1] / "manifests" / "examples" / f"cora-{kind}.yaml").read_text()
    changes = [f"training.seed={seed}", f"placement.ranks={ranks}", "training.checkpoint.every=0"]
    return Cell(name_of("cora", kind, seed, ranks), "cora", text, changes)


def peer_cell(setup, seed, ranks):
    name = name_of(setup["dataset"], setup["model"], seed, ranks)
    job = manifest(name, setup, seed, seed - 1 if setup["splits"] > 1 else 0)
    return Cell(name, setup["dataset"], json.dumps(job), [f"placement.ranks={ranks}"])


def name_of(dataset, model, seed, ranks):
    return f"{dataset}-{model}-{seed}" + (f"-r{ranks}" if ranks > 1 else "")


def source_of(cell, root, data):
    """The folder to import, or None where it is not at hand."""
    for folder in (root / "tests" / "data" / cell.dataset, data / cell.dataset):
        if folder.exists():
            return folder
    return None
