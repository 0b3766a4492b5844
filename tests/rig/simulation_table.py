"""docs/benchmarks/simulate.md from the stored cells of tests/rig/check_simulation."""

HEAD = """# Virtual time beside the rig

Made by `make check-simulation` from simulate.json; don't edit. A section is GraphSAGE (3 × 128; mini-batches: 2 × 128; ogbn_arxiv) under several strategies. First
they run on servers with shaped links on this machine (docs/rig.md). Then the same ranks are recorded, and replayed over the same links
(docs/simulate.md). Epochs are means. "Alone": one rank computes at a time while recording; "at once": two do, and contend for memory, as
the rig's do. Goal, of "at once": a simulated epoch within 10 % of the rig's, or within the rig's own noise.

"""
CLOSE = 0.1


def markdown(cells):
    return HEAD + "\n".join(section(name, cell) for name, cell in sorted(cells.cells.items()))


def section(name, cell):
    lines = [f"## {name}, communication {100 * cell['share']:.0f} % of the first", "",
             f"{cell['machine']}, {cell['date']}; a rank has {cell['coresOfARank']:g} cores; "
             f"the first strategy again: × {cell['noise']:.3f}", "",
             "| strategy | rig | alone | off | at once | off | goal |", "|---|---|---|---|---|---|---|"]
    for label, rig, alone, once in zip(cell["strategies"], cell["rigSeconds"], cell["simulatedSeconds"], cell["simulatedAtOnceSeconds"],
                                       strict=True):
        met = abs(once / rig - 1) <= max(CLOSE, abs(cell["noise"] - 1))
        lines.append(f"| {label} | {1e3 * rig:.0f} ms | {1e3 * alone:.0f} ms | {100 * (alone / rig - 1):+.1f} % | "
                     f"{1e3 * once:.0f} ms | {100 * (once / rig - 1):+.1f} % | {'met' if met else 'missed'} |")
    return "\n".join(lines) + "\n"
