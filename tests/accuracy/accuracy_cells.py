"""The cells of the accuracy tables: what is trained, and what it is compared with."""
import json
from dataclasses import dataclass, replace
from pathlib import Path

from manifest import manifest

HERE = Path(__file__).resolve().parent
PEERS = json.loads((HERE.parent / "peers" / "accuracy_cases.json").read_text())
# Published test accuracy on Cora's public split with the set-ups of manifests/examples; a mean may be 0.5
# points below.
CORA = {"gcn": 81.5, "gat": 83.0, "sage": 83.3, "gcnii": 85.5, "sign": 82.1}
CORA_SEEDS = 10
RANKS = (1, 2, 4)   # compared with each other, for one seed
FLOAT64 = "-f64"


@dataclass
class Cell:
    name: str      # dataset-model-seed, with -r<ranks> and -f64 behind where they are
    dataset: str
    manifest: str  # text
    changes: list  # of it, as `--set` takes them
    float64: bool = False
    imported: tuple = ()  # what else the import is asked for


def in_float64(cell):
    """Rounding decides nothing there: with more ranks the same accuracy must come out."""
    return replace(cell, name=cell.name + FLOAT64, float64=True)


def all_cells():
    """Cora first, then the others as the peers' table lists them, small ones first; ranks 2 and 4 for one seed each."""
    for kind in CORA:
        for seed in range(1, CORA_SEEDS + 1):
            yield cora_cell(kind, seed, 1)
        yield from over_ranks(lambda ranks: cora_cell(kind, 1, ranks))
    for setup, seeds in peer_setups():
        for seed in range(1, seeds + 1):
            yield peer_cell(setup, seed, 1)
        yield from over_ranks(lambda ranks: peer_cell(setup, 1, ranks))


def over_ranks(cell_of):
    """Of several ranks, then all in float64."""
    yield from (cell_of(ranks) for ranks in RANKS if ranks > 1)
    yield from (in_float64(cell_of(ranks)) for ranks in RANKS)


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
