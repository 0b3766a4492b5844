"""The cells of the samplers' table: GraphSAGE under each sampler of `minibatch`, and under `graph`, which reads all neighbours, by seed.
Accuracy doesn't depend on ranks or links: one rank, over as many parts as Cluster-GCN's clusters. `historical` is `neighbour` there: it has
four ranks, and as many parts."""
import json
from dataclasses import dataclass

import accuracy_cells as cases
from manifest import manifest

PARTS = 32
SHAPE = {"layers": 2, "hidden": 128, "norm": "layer"}
TRAINING = {"epochs": 200, "evaluateEvery": 5, "weightDecay": 0}
PATIENCE = 50  # epochs
DATASETS = ("amazon_computers", "tolokers", "coauthor_cs", "ogbn_arxiv")
LARGE = {"ogbn_arxiv": {"epochs": 100, "layers": 3}}
STEPS = 5  # a sampler's epoch has many steps: a fifth of the epochs


@dataclass(frozen=True)
class Sampler:
    name: str
    options: tuple = ()  # of the manifest's block, beside the name
    ranks: int = 1


BASE = Sampler("graph")


def samplers(setup):
    """Steps of about as many training vertices, or a twelfth of the graph's vertices."""
    draws = {"amazon_computers": 1200, "tolokers": 1000, "coauthor_cs": 1500, "ogbn_arxiv": 15000}[setup["dataset"]]
    batch = draws // 2
    sizes = ("layerSizes", [draws] * setup["layers"])
    neighbours = (("batchSize", batch), ("fanout", [10] * setup["layers"]))
    return (Sampler("neighbour", neighbours), Sampler("historical", neighbours, ranks=4),
            Sampler("fastgcn", (("batchSize", batch), sizes)), Sampler("ladies", (("batchSize", batch), sizes)),
            Sampler("cluster", (("merged", 3),)), Sampler("saintVertex", (("draws", draws),)),
            Sampler("saintEdge", (("draws", draws // 2),)), Sampler("saintWalk", (("draws", draws // 3),)),
            Sampler("uniform", (("draws", draws),)))


def setups():
    defaults = {**cases.PEERS["defaults"], **cases.PEERS["models"]["sage"]}
    own = {each["name"]: each for each in cases.PEERS["datasets"]}
    for name in DATASETS:
        of_set = {key: value for key, value in own[name].items() if key not in ("name", "seeds")}
        yield {**defaults, **of_set, **SHAPE, **TRAINING, **LARGE.get(name, {}), "dataset": name}


def cell(setup, sampler, seed):
    name = f"{setup['dataset']}-{sampler.name}-{seed}"
    job = manifest(name.lower(), setup, seed, (seed - 1) % setup["splits"])
    if sampler != BASE:
        job["spec"]["strategy"] = {"kind": "minibatch", "minibatch": {"sampler": sampler.name, **dict(sampler.options)}}
        job["spec"]["training"]["epochs"] //= STEPS
        job["spec"]["placement"] |= {"ranks": sampler.ranks, "partitioner": {"kind": "metis", "parts": PARTS if sampler.ranks == 1 else sampler.ranks}}
    job["spec"]["training"]["earlyStopping"] = {"patience": PATIENCE}
    return cases.Cell(name, setup["dataset"], json.dumps(job), [])
