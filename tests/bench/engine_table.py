"""docs/benchmarks/engine.md from the stored cells."""

HEAD = """# Speed and memory of the engine

Made by `make bench` from engine.json; don't edit. Times are the best of several (kernels) or medians (epochs) on the
machine below; limits come from its rates, measured in the same process. A limit is met at a ratio of 1 or less.

"""


def markdown(cells):
    text = HEAD
    for name, cell in cells.items():
        text += f"## {name}\n\n{machine_line(cell['machine'])}, {cell['date']}, {cell['seconds']:.0f} s.\n\n"
        text += "| | figure | limit | ratio | |\n|---|---|---|---|---|\n"
        text += "".join(line(row) for row in cell["rows"]) + "\n"
    return text


def machine_line(machine):
    cores = machine["cores"]
    return f"{machine['cpu']}, {cores} core{'s' * (cores > 1)}, {machine['memory']}"


def line(row):
    figure = f"{row['figure']:.4g} {row['unit']}"
    if row["limit"] is None:
        return f"| {row['name']} | {figure} | | | {row['note']} |\n"
    return f"| {row['name']} | {figure} | {row['limit']:.4g} {row['unit']} | {row['figure'] / row['limit']:.2f} | {row['note']} |\n"
