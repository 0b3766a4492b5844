"""Which of several rules would have chosen best in the stored cells of the choice, had the program not known their runs: the last table of
docs/benchmarks/choice.md. What `graph` and a strategy were predicted to take is as stored; what they took is what the cells were judged by."""
import math
import random
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accuracy"))
import choice_cells  # noqa: E402
import choice_truth as truth  # noqa: E402
import effect_runs  # noqa: E402
from cells import Cells  # noqa: E402
from data_root import ROOT  # noqa: E402

ENOUGH = 3      # runs of a strategy to choose it by, as in engine/compare/effects.cc
DRAWS = 20      # of sources that are left out
LEFT_OUT = 0.3  # of the sources


@dataclass(frozen=True)
class Rule:
    name: str
    others: Callable  # (runs with the model, runs with others) → (weight of one with others, weight of one more that fails)
    mean: Callable    # of numbers with their weights


def power_mean(power):
    return lambda pairs: (sum(weight * value**power for value, weight in pairs) / sum(weight for _, weight in pairs)) ** (1 / power)


def geometric_mean(pairs):
    return math.exp(sum(weight * math.log(value) for value, weight in pairs) / sum(weight for _, weight in pairs))


def made_up_to_three(own, others):
    return max(0, ENOUGH - own) / max(1, others), 0


def with_one_that_fails(_, others):
    return 2 / (others + 1), 2 / (others + 1)


RULES = tuple(Rule(f"{mean}; {others}", weights, function)
              for others, weights in (("other models make up three runs", made_up_to_three), ("other models and one run that fails count as two", with_one_that_fails))
              for mean, function in (("geometric mean", geometric_mean), ("mean of square roots", power_mean(0.5)), ("mean of times", power_mean(1))))


def table(times):
    """times: of a cell, by strategy."""
    cells = {name: cell for name, cell in Cells(effect_runs.CHOICE).cells.items() if not cell["exact"]}
    runs = list(effect_runs.sourced_runs(effect_runs.all_effects(Cells(ROOT / "docs" / "benchmarks" / "effects.json"))))
    rows = "| times | weights | the cell's runs | its seed's runs | the cell's, and some of all |\n|---|---|---|---|---|\n"
    for rule in RULES:
        rows += f"| {rule.name.replace('; ', ' | ')} | " + " | ".join(judged(rule, cells, runs, times)) + " |\n"
    return rows


def judged(rule, cells, runs, times):
    """Time over the best, mean and most: without runs of the cell, of its seed, and of the cell and some more."""
    sources = sorted({source for source, _, _ in runs})
    draw = random.Random("choice")
    lost = [frozenset(draw.sample(sources, round(LEFT_OUT * len(sources)))) for _ in range(DRAWS)]
    ways = ([lambda name: {name}], [lambda name: {each for each in cells if choice_cells.seed_of(each) == choice_cells.seed_of(name)}],
            [lambda name, gone=gone: gone | {name} for gone in lost])
    for way in ways:
        found = [[over_the_best(rule, cell, [run for run in runs if run[0] not in left_out(name)], times(cell)) for name, cell in cells.items()] for left_out in way]
        yield f"{statistics.mean(map(statistics.mean, found)):.2f}, {statistics.mean(map(max, found)):.2f}"


def over_the_best(rule, cell, runs, taken):
    costs = {name: cost for name, each in cell["strategies"].items() if (cost := cost_of(rule, name, each, cell, runs)) is not None}
    return taken[min(costs, key=costs.get)] / min(taken.values())


def cost_of(rule, name, its, cell, runs):
    """As Comparison::cost() of engine/compare/comparison.h, by the rule. None: it is unknown."""
    steps = effect_runs.steps_of_epoch(name, its)
    if steps is None:
        return None
    step = its["predicted"] / steps
    if effect_runs.is_exact(name):
        return step
    lengths = weighted(rule, name, *choice_cells.model_and_cut(cell["cell"]), runs)
    if all(math.isinf(length) for length, _ in lengths):
        return None
    longest = truth.PATIENCE * cell["strategies"]["graph"]["predicted"]
    return rule.mean([(min(longest, step * max(1, length)), weight) for length, weight in lengths])


def weighted(rule, name, model, by_hash, runs):
    """(length, weight) of runs with parts cut alike or, if these are too few, otherwise."""
    for cut in (by_hash, not by_hash):
        fit = [(key[1] == model, length) for _, key, length in runs if measured_as(key[0]) == measured_as(name) and key[2] == cut]
        if len(fit) < ENOUGH:
            continue
        own = sum(is_own for is_own, _ in fit)
        of_other, of_failed = rule.others(own, len(fit) - own)
        return [(length, 1 if is_own else of_other) for is_own, length in fit] + [(math.inf, of_failed)]
    return []


def measured_as(name):
    kind, *options = name.split(":")
    return kind if options and options[0].startswith("stages=") else name
