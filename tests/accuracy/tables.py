"""docs/benchmarks/accuracy.md from stored cells: means, deviations, and paired differences with their 95 % intervals."""
import json
import statistics

import accuracy_cells as cases
from paired import interval, mean_and_deviation

TELLING = 1.0  # points: a wider interval says little

HEAD = """# Accuracy

`make accuracy` trains every cell that is not stored yet and writes this page; the cells are in accuracy.json, PyG's in
accuracy-peers.json (tests/peers/accuracy.py, set-ups in tests/peers/accuracy_cases.json). Test metric in percent, at the
epoch that is best by validation. Models with nothing but their defaults: defaults.md. ogbn_arxiv's features are 64 structural ones, and published accuracies do not apply to it.
"""


def markdown(results, peers_path):
    peers = read_peers(peers_path)
    return "\n".join([HEAD, cora_table(results), peer_table(results, peers), rank_table(results)])


def read_peers(path):
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text().splitlines())
    return {line["cell"]: 100 * line["test"] for line in lines}


def tests_of(results, dataset, model, seeds):
    """Percent by seed, of the cells that are stored."""
    found = {seed: results.get(cases.name_of(dataset, model, seed, 1)) for seed in range(1, seeds + 1)}
    return {seed: 100 * cell["test"] for seed, cell in found.items() if cell}


def cora_table(results):
    rows = ["## Cora, public split (set-ups: manifests/examples; each says where it differs from the published one)", "",
            "| model | seeds | test, mean ± unbiased deviation | published | goal (−0.5) | |", "|---|---|---|---|---|---|"]
    for model, target in cases.CORA.items():
        values = list(tests_of(results, "cora", model, cases.CORA_SEEDS).values())
        if values:
            verdict = "met" if statistics.mean(values) >= target - 0.5 else "missed"
            rows.append(f"| {model} | {len(values)} | {mean_and_deviation(values)} | {target} | {target - 0.5:.1f} | {verdict} |")
    return "\n".join(rows) + "\n"


def peer_table(results, peers):
    rows = ["## Against PyG, paired by seed and split", "",
            "Goal: the 95 % interval of the difference reaches above −0.3 points. An interval that is wider than a point says little, and says so.", "",
            "| data set | model | pairs | Atoll | PyG | difference | 95 % interval | |", "|---|---|---|---|---|---|---|---|"]
    for setup, seeds in cases.peer_setups():
        mine = tests_of(results, setup["dataset"], setup["model"], seeds)
        pairs = [(mine[seed], peers[name]) for seed in mine
                 if (name := cases.name_of(setup["dataset"], setup["model"], seed, 1)) in peers]
        if len(pairs) > 1:
            rows.append(pair_row(setup, pairs))
    return "\n".join(rows) + "\n"


def pair_row(setup, pairs):
    mean, half = interval(pairs)
    ours, theirs = (mean_and_deviation(side) for side in zip(*pairs))
    verdict = "met" if mean + half > -0.3 else "missed"
    if 2 * half > TELLING:
        verdict += f", {2 * half:.1f} wide"
    return (f"| {setup['dataset']} | {setup['model']} | {len(pairs)} | {ours} | {theirs} | {mean:+.2f} | "
            f"{mean - half:+.2f} … {mean + half:+.2f} | {verdict} |")


def rank_table(results):
    rows = ["## Two and four ranks, seed 1", "",
            "Left float32, as it is trained, where rounding may move a vertex or the best epoch; right the same program in float64",
            "(`build/atoll_f64`), where it doesn't.", "",
            "| data set | model | 1 rank | 2 ranks | 4 ranks | float64: 1 rank | 2 ranks | 4 ranks | |",
            "|---|---|---|---|---|---|---|---|---|"]
    pairs = [("cora", model) for model in cases.CORA]
    pairs += [(setup["dataset"], setup["model"]) for setup, _ in cases.peer_setups()]
    for dataset, model in pairs:
        names = [cases.name_of(dataset, model, 1, ranks) for ranks in cases.RANKS]
        single, double = ([percent(results.get(name + suffix)) for name in names] for suffix in ("", cases.FLOAT64))
        if None in single:
            continue
        verdict = "" if None in double else "equal" if len(set(double)) == 1 else "differ"
        rows.append(f"| {dataset} | {model} | " + " | ".join(value or "—" for value in single + double) + f" | {verdict} |")
    return "\n".join(rows) + "\n"


def percent(cell):
    return f"{100 * cell['test']:.2f}" if cell else None
