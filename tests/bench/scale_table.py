"""docs/benchmarks/scale.md from the stored cells."""

HEAD = """# Cost against ranks and vertices

Made by `make bench-scale` from scale.json; don't edit. A generated graph of 16 arcs a vertex, GraphSAGE of 3 layers of 64, layer norm;
all ranks on one machine, whose cores they share: an epoch should take the same time for each arc however many ranks and vertices there are,
but for halo rows, which are computed nowhere twice, yet read, sent and, by `cagnet` and `sancus`, sent whole. Medians of epochs;
`graph again` is the noise. One machine's memory is the link, so that what bounds an epoch is computing (docs/benchmarks/engine.md says how close that is to the machine's limits).

An arc: an epoch's time, all of the machine's, over arcs. Sent: by all ranks in an epoch; a halo row is counted once for each rank that
reads it. Memory: of the rank with the most; planned: how far the peak that `atoll plan` derives (docs/strategies/costs.md) is from the
measured one, over all ranks (goal: 10 %).

"""
COLUMNS = "| vertices | ranks | halo rows | strategy | epoch | an arc | sent | memory | planned |\n|---|---|---|---|---|---|---|---|---|\n"


def markdown(names, results):
    chosen = [(name, results.get(name)) for name in names if results.get(name)]
    text = HEAD + COLUMNS + "".join(row(name, run) for name, cell in chosen for run in cell["runs"])
    if chosen:
        last = chosen[-1][1]
        text += f"\n{last['machine']['cpu']}, {last['machine']['cores']} cores, {last['machine']['memory']}; {last['date']}.\n"
    return text


def row(name, run):
    vertices, ranks = (part.split()[0] for part in name.split(", "))
    sent = sum(count for purposes in run["bytes"].values() for count in purposes.values())
    label = run["strategy"] + (" again" if run["again"] else "")
    far = sorted(100 * (planned / peak - 1) for planned, peak in zip(run["plannedPeakMemoryBytes"], run["peakMemoryBytes"]))
    return (f"| {int(vertices):,} | {ranks} | {run['halo']:,} | {label} | {1000 * run['epochSecondsMedian']:.0f} ms | "
            f"{1e9 * run['epochSecondsMedian'] / run['arcs']:.0f} ns | {sent / 1e6:.1f} MB | {max(run['peakMemoryBytes']) / 2**20:.0f} MiB | "
            f"{far[0]:+.1f} … {far[-1]:+.1f} % |\n")


def summary(name, cell):
    return f"{name}: " + "; ".join(f"{run['strategy']} {1000 * run['epochSecondsMedian']:.0f} ms" for run in cell["runs"])
