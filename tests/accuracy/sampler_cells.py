"""The cells of the samplers' table: GraphSAGE under each sampler of `minibatch`, and under `graph`, which reads all neighbours, by seed.
Accuracy doesn't depend on ranks or links: one rank. `historical` is `neighbour` there: it has four ranks, and as many parts. Samplers of
whole steps draw about a third of the vertices, or a tenth of the clusters, and train as many epochs as `graph`: each reads a vertex once
an epoch. Cells end when validation has stopped rising, so CELL_SECONDS=3600 for the largest set."""
import json
from dataclasses import dataclass

import accuracy_cells as cases
from manifest import manifest

PARTS = 32
SHAPE = {"layers": 2, "hidden": 128, "norm": "layer"}
TRAINING = {"epochs": 200, "evaluateEvery": 5, "weightDecay": 0}
PATIENCE = 50  # epochs
DATASETS = ("amazon_computers", "tolokers", "coauthor_cs", "ogbn_arxiv")
LARGE = {"ogbn_arxiv": {"epochs": 500, "layers": 3}}
STEPS = 5  # an epoch of small batches has many steps: a fifth of the epochs
VERTICES = {"amazon_computers": 13752, "tolokers": 11758, "coauthor_cs": 18333, "ogbn_arxiv": 169343}


@dataclass(frozen=True)
class Sampler:
    name: str
    options: tuple = ()  # of the manifest's block, beside the name
    ranks: int = 1
    whole_steps: bool = False  # draws what all of a step reads, a third of the graph


BASE = Sampler("graph")


def samplers(setup):
    """Batches of about as many training vertices, with their neighbours; or a third of the graph's vertices."""
    draws = {"amazon_computers": 1200, "tolokers": 1000, "coauthor_cs": 1500, "ogbn_arxiv": 15000}[setup["dataset"]]
    vertices, batch = VERTICES[setup["dataset"]], draws // 2
    sizes = ("layerSizes", [draws] * setup["layers"])
    neighbours = (("batchSize", batch), ("fanout", [10] * setup["layers"]))
    whole = {"cluster": (), "saintVertex": (), "saintEdge": (("draws", vertices // 6),), "saintWalk": (("draws", vertices // 9),),
             "uniform": (("draws", vertices // 3),)}
    return (Sampler("neighbour", neighbours), Sampler("historical", neighbours, ranks=4),
            Sampler("fastgcn", (("batchSize", batch), sizes)), Sampler("ladies", (("batchSize", batch), sizes)),
            *(Sampler(name, options, whole_steps=True) for name, options in whole.items()))


def setups():
    defaults = {**cases.PEERS["defaults"], **cases.PEERS["models"]["sage"]}
    own = {each["name"]: each for each in cases.PEERS["datasets"]}
    for name in DATASETS:
        of_set = {key: value for key, value in own[name].items() if key not in ("name", "seeds")}
        yield {**defaults, **of_set, **SHAPE, **TRAINING, **LARGE.get(name, {}), "dataset": name}


def cell(setup, sampler, seed):
    long = sampler.whole_steps or setup["dataset"] in LARGE
    name = f"{setup['dataset']}-{sampler.name}-{'long-' if long else ''}{seed}"
    job = manifest(name.lower(), setup, seed, (seed - 1) % setup["splits"])
    if sampler != BASE:
        job["spec"]["strategy"] = {"kind": "minibatch", "minibatch": {"sampler": sampler.name, **dict(sampler.options)}}
        job["spec"]["placement"]["ranks"] = sampler.ranks
    if sampler != BASE and not sampler.whole_steps:
        job["spec"]["training"]["epochs"] //= STEPS
        job["spec"]["placement"]["partitioner"] = {"kind": "metis", "parts": PARTS if sampler.ranks == 1 else sampler.ranks}
    job["spec"]["training"]["earlyStopping"] = {"patience": PATIENCE}
    return cases.Cell(name, setup["dataset"], json.dumps(job), [])
