"""The cells of the table of effects: each strategy with its defaults on a few small sets, beside `graph`. Set-ups of GraphSAGE are those of the
strategies' table (strategy_cells.py). Mini-batches visit each training vertex as often as `graph` does, but end where validation hasn't risen for a
while. Other models train full batches with the manifest's own defaults, as cells of the choice do (tests/bench/choice_cells.py)."""
import json

import accuracy_cells as cases
import strategy_cells
from strategy_cells import BASE, RANKS, RANKS_PER_SERVER, Strategy

MODEL = "sage"  # as strategy_cells.py has it
# Layers and columns of the others, which train on a few sets for fewer epochs.
OTHER_MODELS = {"gcn": (3, 64), "gin": (3, 64), "gat": (3, 16), "resgcn": (8, 32), "gcnii": (8, 32)}
OTHER_DATASETS, OTHER_EPOCHS = ("cora", "amazon_computers"), 200
DATASETS = ("cora", "amazon_computers", "musae_facebook", "tolokers", "coauthor_cs")
WIDE = {"musae_facebook", "coauthor_cs"}  # thousands of features: dgs explains them for an hour
SEEDS = 3
EPOCHS = 400
POINTS = 0.5  # below the best validation metric of `graph`: until then
BATCH = 512   # training vertices of a step, over all ranks
FANOUT = (10, 10, 10)
PATIENCE = 40, 400  # epochs of mini-batches without a better validation metric, and at least so many steps
BY_HASH = " by hash"  # parts, where most neighbours are other ranks', and not as few as metis leaves
STRATEGIES = (
    Strategy("pipegcn", "pipegcn"), Strategy(f"pipegcn{BY_HASH}", "pipegcn"), Strategy("bns", "bns"), Strategy(f"bns{BY_HASH}", "bns"), Strategy("sancus", "sancus"), Strategy("gnnpipe", "gnnpipe"), Strategy("granndis", "granndis"),
    *(Strategy(name, kind, (("batchSize", BATCH), ("fanout", FANOUT), *more))
      for name, kind, more in (("minibatch", "minibatch", ()), ("minibatch:sampler=historical", "minibatch", (("sampler", "historical"),)), ("p3", "p3", ()), ("p3:delay=3", "p3", (("delay", 3),)), ("dgs", "dgs", ()))))


def setups():
    by_name = {setup["dataset"]: setup for setup in strategy_cells.setups()}
    own = [{**by_name[name], "model": MODEL, "epochs": EPOCHS} for name in DATASETS]
    return own + [{**by_name[name], "model": model, "epochs": OTHER_EPOCHS} for model in OTHER_MODELS for name in OTHER_DATASETS]


def strategies(setup):
    if setup["model"] != MODEL:
        return [each for each in STRATEGIES if not has_batches(each)]
    return [each for each in STRATEGIES if each.kind != "dgs" or setup["dataset"] not in WIDE]


def name_of(setup, strategy, seed):
    model = "" if setup["model"] == MODEL else f"{setup['model']}-"
    return f"{setup['dataset']}-{model}{strategy.name}-{seed}"


def has_batches(strategy):
    return any(option == "batchSize" for option, _ in strategy.options)


def visits(setup, strategy, steps, stored):
    """Of a training vertex, at most, over those of `graph`. Cells that say nothing are from when batches had as many steps as `graph` has epochs."""
    if not has_batches(strategy) or stored.get("visits"):
        return 1.0
    return max(1, setup["epochs"] // steps) / setup["epochs"]


def cell(setup, strategy, seed, steps):
    """`steps` of an epoch."""
    name = name_of(setup, strategy, seed)
    job = strategy_cells.manifest(name.translate(str.maketrans(":= ", "---")), setup, seed, (seed - 1) % setup["splits"])
    spec = job["spec"]
    spec["strategy"] = {"kind": strategy.kind, **({strategy.kind: dict(strategy.options)} if strategy.options else {})}
    spec["placement"]["ranks"] = RANKS
    spec["placement"]["ranksPerServer"] = RANKS_PER_SERVER
    if strategy.name.endswith(BY_HASH):
        spec["placement"]["partitioner"] = "hash"
    if has_batches(strategy):
        spec["training"]["earlyStopping"] = {"patience": max(PATIENCE[0], PATIENCE[1] // steps)}
    spec["training"]["evaluateEvery"] = max(1, 4 // steps)
    if setup["model"] != MODEL:
        layers, hidden = OTHER_MODELS[setup["model"]]
        spec["model"] = {"kind": setup["model"], "layers": layers, "hidden": hidden}
        spec["training"] = {key: spec["training"][key] for key in ("epochs", "seed", "metric", "evaluateEvery", "checkpoint")}
    return cases.Cell(name, setup["dataset"], json.dumps(job), [])


__all__ = ["BASE", "STRATEGIES", "cell", "has_batches", "name_of", "setups", "strategies", "visits"]
