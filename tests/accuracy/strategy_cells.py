"""The cells of the strategies' table: GraphSAGE as in PipeGCN's Table 3, made smaller, under each strategy, by seed. Accuracy doesn't
depend on links: the cells run on whatever machine this is."""
import json
from dataclasses import dataclass

import accuracy_cells as cases
from manifest import manifest

RANKS = 4
SHAPE = {"layers": 3, "hidden": 128, "norm": "layer"}
# Until it has converged and without weight decay, as the paper does: before that a late gradient's delay is
# all that one sees.
TRAINING = {"epochs": 1000, "evaluateEvery": 5, "weightDecay": 0}
PATIENCE = 300  # epochs: of sets that overfit, the rest would find no better one
LARGE = {"ogbn_arxiv", "musae_github", "fb_nyu", "coauthor_cs"}
LARGE_EPOCHS = 500
CORA = {"dataset": "cora", "normaliseFeatures": "row"}
LEAST_SEEDS, MOST_SEEDS = 5, 160
GOAL = -0.3  # points of difference that the interval reaches above
WIDTH = 1.0  # points, of the 95 % interval: more seeds until it is met


@dataclass(frozen=True)
class Strategy:
    name: str  # in the table
    kind: str
    options: tuple = ()  # of the manifest's block


BASE = Strategy("graph", "graph")
STRATEGIES = tuple(Strategy(f"pipegcn-{name}", "pipegcn", (("smoothing", smoothing),))
                   for name, smoothing in (("gf", "both"), ("plain", "none"))) + (
    Strategy("gnnpipe", "gnnpipe", (("chunks", 16),)), Strategy("granndis", "granndis"))
RANKS_PER_SERVER = 2  # of granndis; nobody else asks


def setups():
    """Small sets first."""
    defaults = {**cases.PEERS["defaults"], **cases.PEERS["models"]["sage"]}
    yield {**defaults, **CORA, **SHAPE, **TRAINING}
    for dataset in cases.PEERS["datasets"]:
        own = {key: value for key, value in dataset.items() if key not in ("name", "seeds")}
        epochs = {"epochs": LARGE_EPOCHS} if dataset["name"] in LARGE else {}
        yield {**defaults, **own, **SHAPE, **TRAINING, **epochs, "dataset": dataset["name"]}


def cell(setup, strategy, seed):
    name = f"{setup['dataset']}-{strategy.name}-{seed}"
    job = manifest(name, setup, seed, (seed - 1) % setup["splits"])
    job["spec"]["strategy"] = {"kind": strategy.kind, **({strategy.kind: dict(strategy.options)} if strategy.options else {})}
    job["spec"]["training"]["earlyStopping"] = {"patience": PATIENCE}
    job["spec"]["placement"]["ranks"] = RANKS
    if strategy.kind == "granndis":
        job["spec"]["placement"]["ranksPerServer"] = RANKS_PER_SERVER
    return cases.Cell(name, setup["dataset"], json.dumps(job), [])
