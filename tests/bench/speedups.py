"""Speed-ups by strategy, from what is stored of the benchmarks: README's chart and table, which tests/lint/readme holds to them.
    python3 tests/bench/speedups.py        writes docs/speedups.svg and prints the ranges"""
import json
import math
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]
import simulated_cells  # noqa: E402
import simulated_tables  # noqa: E402

ROOT = HERE.parents[1]
PICTURE = ROOT / "docs" / "speedups.svg"
FULL = "full batches: beside each layer's exchange, not overlapped"
BATCHES = "mini-batches: beside minibatch, fetched ahead"
P3 = r"(products, 100 features, (sage|sgc|gcn|gat)|papers, 128 features, (sage|gcn)|(ogbn_arxiv|amazon_computers), sage(, parts by METIS)?)"


def stored(name):
    return json.loads((ROOT / "docs" / "benchmarks" / f"{name}.json").read_text())["cells"]


def on_the_rig(strategy, cells=r".*, 2 servers, 65 %"):
    return [run["speedUp"] for name, cell in stored("pipegcn").items() if re.fullmatch(cells, name)
            for run in cell["runs"] if run["strategy"] == strategy and not run["again"]]


def simulated(page, cells, strategy):
    """Of the first simulation of each cell."""
    return [row["speedUp"] for name, cell in stored("simulated").items() if re.fullmatch(f"{page}: {cells}", name)
            for row in cell["simulations"][0]["strategies"] if re.fullmatch(strategy, row["strategy"])]


def granndis():
    """On the papers' clusters, with cards so fast that links between servers take the paper's part of an epoch."""
    cells, found = stored("simulated"), []
    for cell in simulated_cells.cells():
        if cell.page != "granndis" or not re.fullmatch(r"\w+, \d+ layers, 4 x 4", cell.name):
            continue
        by_name = {one["topology"]: one for one in cells[f"granndis: {cell.name}"]["simulations"]}
        speed = simulated_tables.papers_speed(cell, by_name, "granndis-4x4")
        found += [row["speedUp"] for row in by_name[f"granndis-4x4@x{speed}"]["strategies"] if row["strategy"] == "granndis"]
    return found


def speedups():
    """[(group, [(strategy, [speed-up of each graph and model])])]"""
    return [(FULL, [("graph", on_the_rig("graph")), ("pipegcn", on_the_rig("pipegcn:smoothing=none")),
                    ("bns", on_the_rig("bns", ".*everybody")), ("granndis", granndis()),
                    ("gnnpipe", simulated("gnnpipe", r"\w+, \w+, 8 ranks", "gnnpipe:stages=8"))]),
            (BATCHES, [("dgs", simulated("dgs", r"(ogbn_arxiv|reddit|products, 100 features|yelp), 4 workers(, several labels)?", r"dgs:batchSize.*")),
                       ("p3", simulated("p3", P3, r"p3:batchSize.*"))])]


def range_text(values):
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return f"{low} ×" if low == high else f"{low}–{high} ×"


def picture():
    """A dot for each graph and model, on a logarithmic axis."""
    left, width, row_height, low, high = 110, 560, 24, 0.4, 10
    lines, y = [], 10

    def x(value):
        return left + width * math.log(value / low) / math.log(high / low)

    def text(x_, y_, words, anchor="start", weight="normal"):
        lines.append(f'<text x="{x_:.1f}" y="{y_:.1f}" text-anchor="{anchor}" font-weight="{weight}">{words}</text>')

    for group, rows in speedups():
        y += row_height
        text(10, y, group, weight="bold")
        for strategy, values in rows:
            y += row_height
            text(left - 12, y + 4, strategy, "end")
            lines.append(f'<line x1="{x(min(values)):.1f}" x2="{x(max(values)):.1f}" y1="{y}" y2="{y}" stroke="#9db8d9" stroke-width="8" stroke-linecap="round"/>')
            lines += [f'<circle cx="{x(value):.1f}" cy="{y}" r="3.2" fill="#1f4e8c"/>' for value in sorted(values)]
            text(left + width + 12, y + 4, range_text(values))
    bottom = y + row_height
    axis = [f'<line x1="{x(value):.1f}" x2="{x(value):.1f}" y1="24" y2="{bottom}" stroke="{"#555" if value == 1 else "#ddd"}"/>' for value in (0.5, 1, 2, 4, 8)]
    for value in (0.5, 1, 2, 4, 8):
        text(x(value), bottom + 16, f"{value:g} ×", "middle")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {bottom + 28}" font-family="sans-serif" font-size="13">\n'
            f'<title>How many times as fast an epoch is, by strategy</title>\n<rect width="780" height="{bottom + 28}" fill="white"/>\n'
            + "\n".join(axis + lines) + "\n</svg>\n")


if __name__ == "__main__":
    PICTURE.write_text(picture())
    for title, each in speedups():
        print(title, *(f"{strategy}: {range_text(values)} ({len(values)} cells)" for strategy, values in each), sep="\n  ")
