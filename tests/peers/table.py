"""The comparison as a Markdown table, from the stored cells alone. Ratios above 1: Atoll is faster, or smaller."""
from statistics import geometric_mean, median

HEADER = ["case", "Atoll ms", "fastest peer as installed", "ms", "ratio", "fastest peer tuned", "ms", "ratio",
          "Atoll MiB", "peer MiB", "ratio", "A/A"]


def print_table(names, cells):
    races = {name: cells.get(f"{name}/race") for name in names}
    print_row(HEADER)
    print_row(["---"] * len(HEADER))
    for name, race in races.items():
        print_row(raced(name, race) if race else chosen(name, cells.get(f"{name}/choose")))
    rows = [ratios(race) for race in races.values() if race]
    for label, reduce in (("geometric mean", geometric_mean), ("smallest", min), ("largest", max)):
        if rows:
            summary = {key: f"{reduce([row[key] for row in rows]):.2f}" for key in rows[0]}
            print_row([label, "", "", "", summary["installed"], "", "", summary["tuned"], "", "", summary["memory"],
                       summary["again"]])


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


def print_row(columns):
    print("| " + " | ".join(columns) + " |")
