"""The cells of DGS's accuracy: GraphSAGE of the paper's size (2 layers of 16), under `dgs` and what it is compared with, by seed. The base is
`minibatch` that reads all neighbours, with the same batches."""
import json
from dataclasses import dataclass

import accuracy_cells as cases
from manifest import manifest

RANKS = 4
SHAPE = {"layers": 2, "hidden": 16, "norm": "layer"}
# Batches, neighbours in each layer, epochs. Vertices of ogbn_arxiv have 14 neighbours on average, of
# amazon_computers 36, of tolokers 88.
DATASETS = {"amazon_computers": (512, 16, 60), "tolokers": (512, 32, 60), "ogbn_arxiv": (4096, 64, 30)}


@dataclass(frozen=True)
class Strategy:
    name: str
    kind: str
    options: tuple = ()  # of the manifest's block, beside how batches are drawn
    all_neighbours: bool = False


BASE = Strategy("all neighbours", "minibatch", all_neighbours=True)
STRATEGIES = (Strategy("random", "minibatch"), Strategy("random, 0.85 of the columns", "minibatch", (("featureRate", 0.85),)),
              Strategy("dgs, vertices alone", "dgs", (("featureRate", 1),)), Strategy("dgs", "dgs"))


def setups():
    defaults = {**cases.PEERS["defaults"], **cases.PEERS["models"]["sage"]}
    own = {each["name"]: each for each in cases.PEERS["datasets"]}
    for name, (batch, fanout, epochs) in DATASETS.items():
        of_set = {key: value for key, value in own[name].items() if key not in ("name", "seeds")}
        yield {**defaults, **of_set, **SHAPE, "weightDecay": 0, "evaluateEvery": 2, "epochs": epochs, "dataset": name, "draws": (batch, fanout)}


def cell(setup, strategy, seed):
    name = f"{setup['dataset']}-{strategy.name}-{seed}"
    batch, fanout = setup["draws"]
    job = manifest(name.replace(", ", "-").replace(" ", "-"), setup, seed, (seed - 1) % setup["splits"])
    options = {"batchSize": batch, "fanout": [-1 if strategy.all_neighbours else fanout] * setup["layers"], **dict(strategy.options)}
    job["spec"]["strategy"] = {"kind": strategy.kind, strategy.kind: options}
    job["spec"]["placement"]["ranks"] = RANKS
    return cases.Cell(name, setup["dataset"], json.dumps(job), [])
