"""docs/benchmarks/operator.md from the stored cells."""
import statistics

import goal_table

HEAD = """# The operator among a thousand nodes

Made by `make bench-operator` from operator.json; don't edit. A real control plane on one machine (docs/cluster.md), fresh for
each row, with nodes and pods that kwok plays; each operator is a process in the control plane's network, administrator of the
cluster as the other, with the options that it ships with unless said. A gang is so many workers and a launcher. Rows of one round
were measured in turn.

- Moments are seconds since the first object was submitted, by the API server's audit log, to whoever is measured. A pod runs when
  kwok says so, which is as soon as it is bound. Nothing ends, so that in the end all run.
- `plain pods`: the same pods created directly, 16 requests at a time: what the bed itself takes.
- Atoll prepares a job first: one more pod, whose log (served by kwok) tells the cut between its parts. Its launcher is released
  when all workers are Ready; mpi-operator's starts with them (its default).
- Nobody answers on port 9400, except in B6, so the operator's looks at the progress of jobs that train fail, each at once.
- `all told`: when every job was seen to say that it runs, looked for from when all do; – where that took a minute more.
  (mpi-operator's queue takes ten events a second as shipped, throttled client or not.)
- Requests are all of the operator's, watches and lists included. Memory is the kernel's high-water mark.
- `event to decision`: from news of a job, which puts it on the queue, to what was decided being written, with planning and the API
  server's answers; looks at a job that led to nothing aren't counted. `on the queue`: until a worker takes the job, of every look.
  `planning`: to place one gang. Quantiles are interpolated in the operator's histograms. –: measured before this was counted: then it
  was told without planning and answers, and its p99 of 8.9 s missed the goal of 50 ms;
  `on the queue` then left out the time in which the job itself was being worked on.
- The machine is shared: `load` is its load average before and after.

"""
MOMENTS = ("submitted", "created", "ungated", "workers run", "all run", "all told")
GOALS = {"time until all run, to mpi-operator's": 1.0, "peak memory, to mpi-operator's": 1 / 3, "p99 from event to decision, ms": 50.0}
OURS, THEIRS = "atoll", "mpi-operator, unthrottled"


def summary(cell):
    if goal_table.has_goals(cell):
        return goal_table.summary(cell)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in cell["times"].items())
    whole = "" if cell["whole"] else f"cut short after {cell['limit']} s, "
    spent = f", {cell['cpu seconds']:.1f} CPU s, {cell['peak MiB']:.0f} MiB" if "peak MiB" in cell else ""
    return f"{whole}{times}{spent}"


def markdown(cells):
    """`cells`: by name."""
    contests = {}
    for cell in cells.values():
        if goal_table.has_goals(cell):
            continue
        contests.setdefault((cell["gangs"], cell["workers of a gang"], cell["nodes"]), []).append(cell)
    text = HEAD + goal_table.markdown(cells)
    for (gangs, workers, nodes), chosen in sorted(contests.items(), reverse=True):
        chosen.sort(key=lambda cell: cell["round"])
        jobs = f"{gangs} jobs at once, each" if gangs > 1 else "One job"
        text += f"## {jobs} of {workers} workers; {nodes} nodes\n\n"
        text += overview(chosen) + notes(chosen) + control_plane(chosen) + decisions(chosen) + requests(chosen) + goals(chosen)
    return text + machine_line(cells)


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines) + "\n"


def overview(chosen):
    head = ["round", "", *MOMENTS, "requests a job", "CPU s", "peak MiB", "load"]
    return table(head, [[cell["round"], cell["who"], *moments(cell), *spent(cell), load(cell)] for cell in chosen])


def notes(chosen):
    said = sorted({cell["note"] for cell in chosen} - {""})
    return "".join(f"Meanwhile: {note}.\n\n" for note in said)


def moments(cell):
    times = dict(cell["times"])
    if not cell["whole"]:
        share = f"{cell['workers']} workers, {cell['launchers']} launchers after {cell['limit']} s"
        times |= {"workers run": "–", "all run": share, "created": "–"}
    return [times.get(name, "–") for name in MOMENTS]


def spent(cell):
    if "peak MiB" not in cell:
        return ["–"] * 3
    return [f"{cell['requests per gang']:.1f}", f"{cell['cpu seconds']:.1f}", f"{cell['peak MiB']:.0f}"]


def load(cell):
    return "{:.1f}, {:.1f}".format(*cell["load"])


def control_plane(chosen):
    daemons = list(chosen[0]["control plane"])
    rows = [[cell["round"], cell["who"], *cell["control plane"].values()] for cell in chosen]
    return "Processor seconds of the control plane:\n\n" + table(["round", "", *daemons], rows)


def decisions(chosen):
    rows = [[cell["round"], cell["who"], *(times(cell["quantiles"].get(name)) for name in ("decision", "queue", "plan"))]
            for cell in chosen if "quantiles" in cell]
    head = ["round", "", "event to decision", "on the queue", "planning"]
    return "p50 / p99:\n\n" + table(head, rows) if rows else ""


def times(quantiles):
    return " / ".join(f"{1000 * seconds:.1f}" for seconds in quantiles) + " ms" if quantiles else "–"


def requests(chosen):
    """Of the first round, whose gangs were all served."""
    text = ""
    for cell in chosen:
        if cell["round"] == 1 and cell["whole"] and "requests" in cell:
            kinds = ", ".join(f"{what} {times / cell['gangs']:.1f}" for what, times in cell["requests"].items()
                              if times >= cell["gangs"] / 10)
            text += f"Requests a job, {cell['who']}: {kinds}; refused in all: {cell['refused']}.\n\n"
    return text


def goals(chosen):
    """Pairs within a round, their median; of bursts."""
    ours, theirs = ({cell["round"]: cell for cell in chosen if cell["who"] == who and cell["whole"]} for who in (OURS, THEIRS))
    pairs = [figures(ours[number], theirs[number]) for number in ours if number in theirs and ours[number]["gangs"] > 1]
    rows = [[goal, f"{limit:.2f}", f"{statistics.median(found):.2f}", ", ".join(f"{each:.2f}" for each in found)]
            if None not in found else [goal, f"{limit:.2f}", "–", "–"] for (goal, limit), found in zip(GOALS.items(), zip(*pairs))]
    return "Goals:\n\n" + table(["", "at most", "median", "by round"], rows) if rows else ""


def figures(ours, theirs):
    """In the order of GOALS; None: not measured yet."""
    decision = ours["quantiles"].get("decision")
    return (ours["times"]["all run"] / theirs["times"]["all run"], ours["peak MiB"] / theirs["peak MiB"],
            decision and 1000 * decision[1])


def machine_line(cells):
    last = max(cells.values(), key=lambda cell: cell["date"])
    machine = last["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory']}; {last['date'][:10]}.\n"
