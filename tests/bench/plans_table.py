"""docs/benchmarks/plans.md from the stored cells."""

HEAD = """# Plans of mini-batches beside runs

Made by `tests/bench/batch_plans` from plans.json; don't edit. Each job is planned before its graph is prepared, from the data set, and after,
from the run's own first 32 batches; then it trains two epochs. Peak: of the rank that the plan is farthest from; measured is what Linux
calls VmHWM, which counts the pages of mapped arcs too. The plan tells them apart, because the kernel takes them back; in brackets is the
difference with them. Sent: by all ranks in an epoch, the mean of both (the first fetches some of the second's rows ahead). Goals: 10 % of the peak, 5 % of the
bytes. Seconds are of a plan from the data set and of one that prepares the graph first, on processors that other work used too.

"""
COLUMNS = ("| job | peak, measured | from batches | from the data set | sent, measured | from batches | from the data set | plan / preparing |\n"
           "|---|---|---|---|---|---|---|---|\n")
PEAK_GOAL, BYTES_GOAL = 0.10, 0.05


def markdown(names, results):
    chosen = [(name, results.get(name)) for name in names if results.get(name)]
    text = HEAD + COLUMNS + "".join(row(name, cell) for name, cell in chosen)
    for how, title in (("prepared", "From batches of the prepared graph"), ("unprepared", "From the data set")):
        for basis, words in groups(chosen, how):
            near = [within(cell, how) for _, cell in chosen if cell[how]["from"] == basis]
            text += (f"\n{title}{words}: {sum(peak for peak, _ in near)} of {len(near)} peaks within 10 %, "
                     f"{sum(sent for _, sent in near)} of {len(near)} sums of bytes within 5 %.\n")
    if chosen:
        last = chosen[-1][1]
        text += f"\n{last['machine']['cpu']}, {last['machine']['cores']} cores, {last['machine']['memory']}; {last['date']}.\n"
    return text


def groups(chosen, how):
    """What plans were made from, and what to say of it."""
    itself = ", which the plan prepares itself, because metis divides it in seconds"
    words = {"preparedGraph": "" if how == "prepared" else itself, "dataset": ", where it is known who owns what (one rank, hash, range)",
             "datasetAssumedParts": ", where metis will divide the vertices and the plan divides them at random"}
    return [(basis, said) for basis, said in words.items() if any(cell[how]["from"] == basis for _, cell in chosen)]


def within(cell, how):
    peak, _ = far_peak(cell, how)
    return abs(peak) <= PEAK_GOAL, abs(far_bytes(cell, how)) <= BYTES_GOAL


def far_peak(cell, how):
    """Of the rank that is farthest off, without and with its page cache."""
    plan = cell[how]
    pairs = [(peak / real - 1, (peak + pages) / real - 1)
             for peak, pages, real in zip(plan["peaks"], plan["pages"], cell["run"]["peaks"], strict=True)]
    return max(pairs, key=lambda pair: abs(pair[0]))


def far_bytes(cell, how):
    sent = cell["run"]["bytes"]
    return cell[how]["bytes"] / sent - 1 if sent else float(cell[how]["bytes"] > 0)


def row(name, cell):
    def peak(how):
        return "{:+.1f} ({:+.1f}) %".format(*(100 * off for off in far_peak(cell, how)))
    return (f"| {name} | {max(cell['run']['peaks']) / 2**20:.0f} MiB | {peak('prepared')} | {peak('unprepared')} | "
            f"{cell['run']['bytes'] / 1e6:.1f} MB | {100 * far_bytes(cell, 'prepared'):+.1f} % | "
            f"{100 * far_bytes(cell, 'unprepared'):+.1f} % | {cell['planSeconds']:.1f} / {cell['prepareSeconds']:.1f} s |\n")


def summary(name, cell):
    return (f"{name}: peak {100 * far_peak(cell, 'prepared')[0]:+.1f} % from batches, {100 * far_peak(cell, 'unprepared')[0]:+.1f} % from "
            f"the data set; bytes {100 * far_bytes(cell, 'prepared'):+.1f} %, {100 * far_bytes(cell, 'unprepared'):+.1f} %")
