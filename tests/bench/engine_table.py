"""docs/benchmarks/engine.md from the stored cells."""

HEAD = """# Speed and memory of the engine

Made by `make bench` from engine.json; don't edit. Times are the best of several (kernels) or medians (epochs) on the
machine below; limits come from its rates, measured in the same process. A limit is met at a ratio of 1 or less.

"""

NOTES = {
    "batches of 34,493 x 8,415 features": """\
Why 8 is missed, and what bounds it. An epoch has 21 steps, and in each the four ranks read 94 % of the graph's vertices between them: batches of an
epoch have 38.2 times the graph's rows, and 6.1 times as many rows are destinations (`tests/bench/batch_rows --by-class` counts them without training).
The former are multiplied with the neighbours' weight and the latter with their own, there and back. `graph` does either once. These products are a third
of the processors' time, 6.4 ms for each time that all rows are multiplied. The rest: putting sparse rows together and packing them 11 %,
their transposes 14 %, the sum of the weights' gradients and Adam 12 %, and 30 % for drawing, sums over drawn arcs, the second layer and waiting.

A row that several ranks read could be multiplied once a step, by its owner, and products could travel instead of rows. Then 19.7 + 5.6 times the
graph's rows are left, 163 ms or 3.6 times `graph`'s epoch, for each step has other weights. The sum of 1.08 million gradients and Adam
on each rank take 102 ms, 2.3 times. So 5.9 of the 8 are spent before anything is drawn, summed or sent. Products are 256 bytes there
and 256 back for each row of another rank, where a sparse row is 268 bytes once, and nothing of it could be fetched ahead. What is left would have to take 94 ms, with that exchange among it,
where it takes 256 ms without. Transposes, packing and repeated rows saved, at no cost for the exchange, it would be about 12. Larger
batches are what helps: with `batchSize: 4096` there are 6 steps, not 21, and each can read the graph once at most.
""",
}


def markdown(cells):
    text = HEAD
    for name, cell in cells.items():
        text += f"## {name}\n\n{machine_line(cell['machine'])}, {cell['date']}, {cell['seconds']:.0f} s.\n\n"
        text += "| | figure | limit | ratio | |\n|---|---|---|---|---|\n"
        text += "".join(line(row) for row in cell["rows"]) + "\n"
        text += NOTES[name] + "\n" if name in NOTES else ""
    return text


def machine_line(machine):
    cores = machine["cores"]
    return f"{machine['cpu']}, {cores} core{'s' * (cores > 1)}, {machine['memory']}"


def line(row):
    figure = f"{row['figure']:.4g} {row['unit']}"
    if row["limit"] is None:
        return f"| {row['name']} | {figure} | | | {row['note']} |\n"
    return f"| {row['name']} | {figure} | {row['limit']:.4g} {row['unit']} | {row['figure'] / row['limit']:.2f} | {row['note']} |\n"
