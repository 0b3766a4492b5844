"""The comparison as a Markdown table, from the stored cells alone. Ratios above 1: Atoll is faster, or smaller."""
from statistics import geometric_mean, median

HEADER = ["case", "Atoll ms", "fastest peer as installed", "ms", "ratio", "fastest peer tuned", "ms", "ratio",
          "Atoll MiB", "peer MiB", "ratio", "A/A"]


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
