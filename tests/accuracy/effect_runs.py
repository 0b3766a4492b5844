"""What stored cells say of strategies beside `graph`: their points, and the steps until they came as far. Cells are those of tests/accuracy/effects
and, for steps alone, those of the choice (tests/bench/choice)."""
import math
import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / place) for place in ("peers", "bench")]
import choice_cells  # noqa: E402
import choice_truth as truth  # noqa: E402
import effect_cells as cases  # noqa: E402
from cells import Cells  # noqa: E402
from data_root import ROOT  # noqa: E402

CHOICE = ROOT / "docs" / "benchmarks" / "choice.json"
EXACT = ("graph", "granndis:maxHop=0:fanout=-1")  # and every cagnet
TOLD_TWICE = 2  # times graph's steps: who had fewer, and wasn't there, tells nothing


def all_effects(results):
    """(set-up, effects_of() it), of all set-ups that have any."""
    return [(setup, found) for setup in cases.setups() if (found := effects_of(setup, results))]


def effects_of(setup, results):
    """By strategy: (points of each pair, steps over those of graph, vertex visits over those of graph), of all seeds that are there."""
    found = {}
    for strategy in cases.STRATEGIES:
        both = [[results.get(cases.name_of(setup, each, seed)) for each in (cases.BASE, strategy)] for seed in range(1, cases.SEEDS + 1)]
        pairs = [pair for pair in both if all(pair)]
        if not pairs:
            continue
        points = [100 * (own["test"] - base["test"]) for base, own in pairs]
        base, own = (mean_curve([pair[side]["risen"] for pair in pairs]) for side in (0, 1))
        wanted = base[-1][1] - cases.POINTS
        steps = steps_of(setup, strategy, results)
        length = reached(own, wanted) * steps / reached(base, wanted)
        found[strategy.name] = (points, length, min(cases.visits(setup, strategy, steps, own) for _, own in pairs))
    return found


def mean_curve(curves):
    """(epoch, mean over seeds of the best so far), where it rises: one seed's luck in an epoch isn't the strategy's."""
    epochs = sorted({epoch for curve in curves for epoch, _ in curve})
    best = [[max((value for at, value in curve if at <= epoch), default=0) for curve in curves] for epoch in epochs]
    return [(epoch, statistics.mean(values)) for epoch, values in zip(epochs, best, strict=True)]


def reached(curve, wanted):
    return next((epoch for epoch, value in curve if value >= wanted), math.inf)


def steps_of(setup, strategy, results):
    own = results.get(f"{setup['dataset']} itself")
    return math.ceil(own["training"] / cases.BATCH) if own and cases.has_batches(strategy) else 1


def sourced_runs(effects):
    """(source, (strategy, model, by hash), steps over those of `graph`), of the sets first: one run each. A cell of the choice is its own source."""
    for setup, each in effects:
        for name, (_, length, _) in each.items():
            yield f"{setup['dataset']} {setup['model']}", (name.removesuffix(cases.BY_HASH), setup["model"], name.endswith(cases.BY_HASH)), length
    for name, cell in Cells(CHOICE).cells.items():
        for strategy, length in runs_of(cell).items():
            yield name, (strategy, *choice_cells.model_and_cut(cell["cell"])), length


def stored_runs(effects):
    """By (strategy, model, by hash): steps over those of `graph`, as the program knows them."""
    judging = {name for name in Cells(CHOICE).cells if choice_cells.seed_of(name) not in choice_cells.KNOWN}
    found = {}
    for source, key, length in sourced_runs(effects):
        if source not in judging:
            found.setdefault(key, []).append(length)
    return dict(sorted(found.items()))


def runs_of(cell):
    """Of a cell of the choice, by strategy: steps over those of `graph`. Batches whose steps weren't stored are left out, and so is who had too little time."""
    if cell["exact"]:  # nothing else was run
        return {}
    graph = cell["strategies"]["graph"]
    found = {}
    for name, each in cell["strategies"].items():
        steps = steps_of_epoch(name, each)
        if is_exact(name) or steps is None:
            continue
        given = truth.PATIENCE * min(choice_cells.STEPS, graph["seconds"] * graph["epochs"] / each["seconds"] * steps)
        if each["epochs"]:
            found[name] = each["epochs"] * steps / graph["epochs"]
        elif given >= TOLD_TWICE * graph["epochs"]:
            found[name] = math.inf
    return found


def is_exact(strategy):
    return strategy in EXACT or strategy.split(":")[0] == "cagnet"


def steps_of_epoch(strategy, its):
    """Optimiser steps of an epoch. None: they weren't stored."""
    return its.get("steps", None if strategy.split(":")[0] in truth.SEVERAL_STEPS else 1)
