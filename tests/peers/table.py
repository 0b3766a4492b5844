"""The comparison as a Markdown table, from the stored cells alone. Ratios above 1: Atoll is faster, or smaller."""
from statistics import geometric_mean, mean, median, stdev

HEADER = ["case", "Atoll ms", "fastest peer as installed", "ms", "ratio", "fastest peer tuned", "ms", "ratio",
          "Atoll MiB", "peer MiB", "ratio", "A/A"]


GOALS = {"installed": (3, 2), "tuned": (2, 1.3), "memory": (2, 0)}  # in geometric mean, and nowhere under
DRAWING = 3
CURVE = -0.3  # points

HEAD = """# Atoll beside PyG and DGL

Made by `make bench-peers` from peers.json, which has every run, its command, commit and machine; don't edit. One rank, two threads;
an epoch is forward, loss, backward and Adam's step. Ratios above 1: Atoll is faster, or smaller. They are formed inside
a round of runs in turn; the last column is Atoll against itself. What the peers' variants are: tests/peers/README.md.
Goals: as installed 3 in geometric mean and nowhere under 2, tuned 2 and nowhere under 1.3, memory 2.

"""


def markdown(names, cells):
    races = {name: cells.get(f"{name}/race") for name in names}
    rows = [HEADER, ["---"] * len(HEADER)]
    rows += [raced(name, race) if race else chosen(name, cells.get(f"{name}/choose")) for name, race in races.items()]
    found = [ratios(race) for race in races.values() if race]
    for label, reduce in (("geometric mean", geometric_mean), ("smallest", min), ("largest", max)):
        if found:
            all_of = {key: f"{reduce([row[key] for row in found]):.2f}" for key in found[0]}
            rows.append([label, "", "", "", all_of["installed"], "", "", all_of["tuned"], "", "", all_of["memory"],
                         all_of["again"]])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def page(names, cells):
    return HEAD + "".join(part(names, cells) for part in (markdown, machines, missed, sampling, curves))


def machines(names, cells):
    """Which rows were measured where; ratios are of one machine each."""
    rows = {}
    for name in names:
        if race := cells.get(f"{name}/race"):
            rows.setdefault((race["machine"]["cpu"], race["date"]), []).append(name)
    told = [f"{machine}, {date}: {', '.join(each) if 2 * len(each) < len(names) else 'all others'}" for (machine, date), each in sorted(rows.items())]
    return f"\nMachines: {'; '.join(told)}.\n" if told else ""


def missed(names, cells):
    """A sentence that names what falls short of the goals."""
    found = {name: ratios(cells.get(f"{name}/race")) for name in names if cells.get(f"{name}/race")}
    short = []
    for key, (goal, least) in GOALS.items():
        middle = geometric_mean([row[key] for row in found.values()]) if found else goal
        short += [f"{key} in geometric mean ({middle:.2f} of {goal})"] if middle < goal else []
        short += [f"{key} {name} ({row[key]:.2f} of {least})" for name, row in found.items() if row[key] < least]
    for name in names:
        if race := cells.get(f"{name}/sampling"):
            ratio = median(turn["atoll"]["arcsPerSecond"] / turn["peer"]["arcsPerSecond"] for turn in race["rounds"])
            short += [f"drawing {name} ({ratio:.2f} of {DRAWING})"] if ratio < DRAWING else []
    return f"\nMissed: {'; '.join(short)}.\n" if short else ""


SAMPLING_HEAD = """
## Drawing batches

Nothing but the batches of an epoch: an epoch's seeds, their neighbours, the blocks, on the same two threads, with every sampler of the
peers; the fastest races (`atoll bench batches`). Million arcs a second; goal: a ratio of 3.

| case | Atoll | fastest peer | its arcs | ratio | A/A |
| --- | --- | --- | --- | --- | --- |
"""


def sampling(names, cells):
    races = {name: cells.get(f"{name}/sampling") for name in names}
    rows = [drawn(name, race["rounds"]) for name, race in races.items() if race]
    return SAMPLING_HEAD + "".join("| " + " | ".join(row) + " |\n" for row in rows) if rows else ""


def drawn(name, rounds):
    def of(who):
        return median(turn[who]["arcsPerSecond"] for turn in rounds)

    def paired(above, below):
        return f"{median(turn[above]['arcsPerSecond'] / turn[below]['arcsPerSecond'] for turn in rounds):.2f}"

    peer = rounds[0]["peer"]
    return [name, f"{of('atoll') / 1e6:.3g}", f"{peer['peer']} {peer['variant']}", f"{of('peer') / 1e6:.3g}", paired("atoll", "peer"),
            paired("again", "atoll")]


def curves(names, cells):
    pairs = {name: [cell for key, cell in sorted(cells.cells.items()) if key.startswith(f"{name}/curve/")] for name in names}
    return "".join(curve(name, seeds) for name, seeds in pairs.items() if seeds)


def curve(name, pairs):
    """Percent after each epoch, and the difference of pairs."""

    def memory(who):
        return median(pair[who]["peakMemoryBytes"] for pair in pairs) / 2**20

    text = f"""
## {name}: accuracy by epoch

Validation accuracy in percent over all neighbours, mean of {len(pairs)} seed{'s' if len(pairs) > 1 else ''}; the difference is the mean of pairs, and its deviation.
Goal: nowhere below −0.3. Peak memory, with these evaluations: {memory("atoll"):.4g} MiB, and the peer's {memory("peer"):.4g}:
{memory("peer") / memory("atoll"):.2f} times.

| epoch | Atoll | {pairs[0]["peer"]["peer"]} {pairs[0]["peer"]["variant"]} | difference |
| --- | --- | --- | --- |
"""
    below = []
    for epoch in range(len(pairs[0]["atoll"]["validation"])):
        ours, theirs = ([100 * pair[who]["validation"][epoch] for pair in pairs] for who in ("atoll", "peer"))
        differences = [a - b for a, b in zip(ours, theirs)]
        below += [str(epoch + 1)] if mean(differences) < CURVE else []
        deviation = f"± {stdev(differences):.2f}" if len(pairs) > 1 else "one pair"
        text += f"| {epoch + 1} | {mean(ours):.2f} | {mean(theirs):.2f} | {mean(differences):+.2f} {deviation} |\n"
    if below:
        text += f"\nMissed after epoch {', '.join(below)}.\n"
    return text


def ratios(race):
    """Formed inside each round, then the median over rounds; `again` is Atoll against Atoll."""
    rounds = race["rounds"]

    def paired(above, below, key="epochSecondsMedian"):
        return median(turn[above][key] / turn[below][key] for turn in rounds)

    return {"installed": paired("installed", "atoll"), "tuned": paired("tuned", "again"),
            "memory": paired("installed", "atoll", "peakMemoryBytes"), "again": paired("again", "atoll")}


def raced(name, race):
    found = ratios(race)

    def typical(who, key, unit):
        return f"{median(turn[who][key] for turn in race['rounds']) / unit:.4g}"

    row = [name, typical("atoll", "epochSecondsMedian", 1e-3)]
    for allocator in ("installed", "tuned"):
        row += [way_name(race["rounds"][0][allocator]), typical(allocator, "epochSecondsMedian", 1e-3),
                f"{found[allocator]:.2f}"]
    return row + [typical("atoll", "peakMemoryBytes", 2**20), typical("installed", "peakMemoryBytes", 2**20),
                  f"{found['memory']:.2f}", f"{found['again']:.2f}"]


def chosen(name, choice):
    """Without a race only the peers' figures are known."""
    row = [name, "–"]
    for allocator in ("installed", "tuned"):
        best = fastest(choice["runs"], allocator) if choice else None
        row += [way_name(best), f"{best['epochSecondsMedian'] * 1e3:.4g}", "–"] if best else ["–"] * 3
    memory = fastest(choice["runs"], "installed")["peakMemoryBytes"] / 2**20 if choice else None
    return row + ["–", f"{memory:.4g}" if memory else "–", "–", "–"]


def fastest(runs, allocator):
    return min((run for run in runs if run["allocator"] == allocator), key=lambda run: run["epochSecondsMedian"])


def way_name(run):
    return f"{run['peer']} {run['variant']} {run['features']}"
