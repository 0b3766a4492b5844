"""docs/benchmarks/pipegcn.md from the stored comparisons."""
import statistics

from comparisons import BASELINE, PLAIN

HEAD = """# PipeGCN and its rivals on slow links

Made by `make bench-strategies` from pipegcn.json; don't edit. Servers with shaped links on one machine (docs/rig.md), one rank per server.
The model is GraphSAGE; tests/rig/comparisons.py has its shape for each data set. Links are chosen so that `graph:overlap=false:haloRows=inputs`, the
papers' synchronous baseline, spends the named share of its epoch in communication. Epochs are medians of runs in turn, and speed-ups are
medians of paired ratios. Cells of before 2026-11-29 are older than `haloRows: products`, which sends fewer bytes of `graph`, `bns` and `cagnet`: there they are as with `haloRows: inputs`.
A goal is met or missed only outside the noise band (the baseline against itself).

- ideal: max(compute, communication) if bytes travel while a rank computes, their sum if the rank waits.
- Goals: `pipegcn` without smoothing takes at most 1.1 × its ideal. It is therefore at least 1.8, 1.4 and 1.13 × faster than the baseline at
  50, 65 and 80 %, judged at the share that was reached. It is never slower than `graph`, and 3 × faster than `cagnet` with replication 2.
  The last column has the distance from each goal.
- progress: processor time of the communication thread. It shares the rank's cores with the computing thread: if they overlap, `compute`
  contains it.
- planned: the difference of the epoch that a probe of some ranks over emulated links predicted (goal: 15 %). `atoll simulate`, which has
  taken the probe's place, is compared with the rig in [simulate.md](simulate.md). If a section gives the processor time per MB, the probe
  was given it and knew the server with the busiest link direction. The other sections were planned before it knew that.

"""
COLUMNS = ("strategy", "epoch", "speed-up", "compute", "exposed", "communication", "progress", "epoch / ideal", "bound by",
           "planned", "sent", "memory", "")
CLOSE_TO_IDEAL, OVER_CAGNET = 1.1, 3


def markdown(comparisons, cells):
    text = HEAD
    for comparison in comparisons:
        cell = cells.get(comparison.name)
        if cell:
            text += section(comparison.name, cell)
            text += f"![an epoch under each strategy]({comparison.picture})\n\n" if comparison.picture else ""
    return text


def write(comparisons, cells, folder, name):
    """The page, and its pictures beside it."""
    comparisons = list(comparisons)
    (folder / f"{name}.md").write_text(markdown(comparisons, cells))
    for comparison in comparisons:
        if comparison.picture and cells.get(comparison.name):
            (folder / comparison.picture).write_text(picture(cells.get(comparison.name)))


def picture(cell):
    """A bar for each run: computing and exposed communication, all communication below them, a stroke where the ideal lies."""
    longest = max(max(run["computeSeconds"] + run["exposedCommunicationSeconds"], run["communicationSeconds"], run["idealSeconds"]) for run in cell["runs"])
    left, width, pitch = 230, 600, 42
    lines = ['<text x="20" y="24">An epoch: compute (blue), exposed communication (orange), all communication (grey), ideal (stroke)</text>']

    def bar(x, y, value, height, colour, name):
        lines.append(f'<rect x="{x:.1f}" y="{y}" width="{value / longest * width:.1f}" height="{height}" fill="{colour}"><title>{name} {seconds(value)}</title></rect>')

    for number, run in enumerate(cell["runs"]):
        y, compute, exposed = 50 + pitch * number, run["computeSeconds"], run["exposedCommunicationSeconds"]
        ideal = left + run["idealSeconds"] / longest * width
        end = max(ideal, left + (compute + exposed) / longest * width)
        lines.append(f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{run["strategy"]}{" again" if run["again"] else ""}</text>')
        bar(left, y, compute, 18, "#0b6bcb", "compute")
        bar(left + compute / longest * width, y, exposed, 18, "#e07b00", "exposed")
        bar(left, y + 20, run["communicationSeconds"], 6, "#8a94a0", "communication")
        lines.append(f'<path d="M{ideal:.1f} {y - 3}v32" stroke="#16202c" stroke-width="2"/>')
        lines.append(f'<text x="{end + 8:.1f}" y="{y + 14}">{seconds(run["epochSecondsMedian"])} ({run["speedUp"]:.2f} ×)</text>')
    height = 50 + pitch * len(cell["runs"])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {height}" font-family="sans-serif" font-size="13">\n'
            f'<rect width="960" height="{height}" fill="white"/>\n' + "\n".join(lines) + "\n</svg>\n")


def section(name, cell):
    machine, noise = cell["machine"], cell["noise"]
    line = (f"{machine['cpu']}, {machine['cores']} cores, {cell['date']}, {cell['seconds']:.0f} s; links of {cell['link']}, "
            f"{100 * cell['commShare']['reached']:.1f} % communication; noise {noise[0]:.2f} … {noise[1]:.2f}{work(cell)}.")
    rows = "".join(row(run, cell) for run in cell["runs"])
    return f"## {name}\n\n{line}\n\n{table_line(COLUMNS)}|{'---|' * len(COLUMNS)}\n{rows}\n"


def work(cell):
    milliseconds = cell.get("millisecondsPerMegabyte")
    return f"; a MB takes {milliseconds:.2f} ms of processors" if milliseconds else ""


def row(run, cell):
    label = run["strategy"] + (" again" if run["again"] else "")
    sent = sum(count for purposes in run["bytes"].values() for count in purposes.values())
    return table_line((
        label, seconds(run["epochSecondsMedian"]), f"{run['speedUp']:.2f}", seconds(run["computeSeconds"]),
        seconds(run["exposedCommunicationSeconds"]), seconds(run["communicationSeconds"]), seconds(run["progressCpuSeconds"]),
        f"{run['epochOverIdeal']:.2f}", run["boundBy"], f"{100 * (run['plannedSeconds'] / run['epochSecondsMedian'] - 1):+.0f} %",
        f"{sent / 1e6:.1f} MB", f"{max(run['peakMemoryBytes']) / 2**20:.0f} MiB", verdict(run, cell)))


def table_line(columns):
    return f"| {' | '.join(columns)} |\n"


def seconds(value):
    return f"{1000 * value:.0f} ms" if value < 10 else f"{value:.1f} s"


def verdict(run, cell):
    """Of the goals, where the row has some: those of equal precision and without smoothing."""
    others = {each["strategy"]: each for each in cell["runs"] if not each["again"]}
    if run["strategy"] != PLAIN or BASELINE not in others:
        return ""
    goals = {"ideal": CLOSE_TO_IDEAL / run["epochOverIdeal"], "baseline": run["speedUp"] / wanted(cell["commShare"]["reached"])}
    if "graph" in others:
        goals["graph"] = times_faster(run, others["graph"])
    if "cagnet:replication=2" in others:
        goals["cagnet"] = times_faster(run, others["cagnet:replication=2"]) / OVER_CAGNET
    noise = (cell["noise"][1] - cell["noise"][0]) / 2
    return ", ".join(f"{name} {judgement(ratio, noise)}" for name, ratio in goals.items())


def judgement(ratio, noise):
    """Of what was reached over what was wanted. Within the noise nothing is met, or missed."""
    word = "met" if ratio > 1 + noise else "missed" if ratio < 1 - noise else "within noise"
    return f"{word} ({100 * (ratio - 1):+.0f} %)"


def wanted(share):
    """A speed-up over the baseline, of which so much is communication: 1.8, 1.4 and 1.13 at 50, 65 and 80 %."""
    return 1 / (CLOSE_TO_IDEAL * max(share, 1 - share))


def times_faster(run, other):
    """Median of ratios within a round."""
    rounds = zip(run["rounds"], other["rounds"])
    return statistics.median(theirs["epochSecondsMedian"] / ours["epochSecondsMedian"] for ours, theirs in rounds)


def summary(cell):
    return "; ".join(f"{run['strategy']} {seconds(run['epochSecondsMedian'])} ({run['speedUp']:.2f} ×)" for run in cell["runs"])
