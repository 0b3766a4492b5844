"""The cells that have goals, for docs/benchmarks/operator.md: each figure beside its goal."""

HEAD = """## Goals

Cells of their own (`tests/cluster/bench --only '^B'`). A goal is the most that is allowed.

- B1, B2 and B4 have nodes in blocks of 16 and four zones, and pods of others on them, written into etcd before the API server
  started. Nobody watches for silent nodes there. In B1 and B4 the operator has a control group of its own, which gets 28 times as
  much of this machine's cores as the control plane, where both want them. Jobs have three levels: zone, block, host name.
- `from event to decision`: from news of a job, which puts it on the queue, to what is to be done being known, with planning. What
  the API server takes is told apart: what is written then, an answer that the decision needs, and news that comes while the job's
  own writes are under way, which waits for their end. `without waits for a processor`: those of the thread that decides.
- `told again`: what the operator of B1 heard of nodes, jobs and others' pods is recorded (`tests/cluster/record`), and told again, at its
  pace, to an operator without a control plane (`tests/cluster/replay`). Its requests are answered as many a second as the API server
  did, because the pace of answers is the pace of news. Its own pods run at once.
- Figures of 2026-11-30 are from before: the operator had a niceness of −15, which counts for nothing between sessions
  (sched_autogroup_enabled); who decided wrote as well, and the clock ran while the job's own writes were under way.
- In figures up to 2026-11-30, here and below, Atoll's workers ask for no GPUs, though all others' do: the field that was to name them
  isn't one, and API servers drop such fields.
- B2: two servers of each gang must be in one block, and none has room. For the processor time nothing happens but pods that end and
  others that begin. Then large pods are ended, one by one, until a worker is released; and workers of jobs that run are taken away,
  until the job's status is written, by the API server's audit log.
- B6: a server answers for all pods on port 9400, as ranks do that end an epoch each second. All jobs' statuses must go on.
- B7: workers are real pods whose ranks train. Memory is the launcher's control group's without files. Its goal is four fifths of the
  limit that the operator gives.

"""


def has_goals(cell):
    return "figures" in cell


def markdown(cells):
    """`cells`: by name; those without goals are left out."""
    rows = [[name if number == 0 else "", each["figure"], goal(each), amount(each), verdict(each, cell)]
            for name, cell in sorted(cells.items()) if has_goals(cell) for number, each in enumerate(cell["figures"])]
    if not rows:
        return ""
    lines = [["", "", "at most", "measured", ""], ["---"] * 5, *rows]
    return HEAD + "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n" + notes(cells)


def notes(cells):
    """When each was measured, and among what."""
    text = ""
    for name, cell in sorted(cells.items()):
        if has_goals(cell):
            beside = f", load {cell['load'][0]:.1f} to {cell['load'][1]:.1f}"
            text += f"{name}: `{cell['command']}`, {cell['seconds']} s on {cell['date'][:10]}{beside}"
            text += (f"; meanwhile {cell['note']}" if cell["note"] else "") + ".\n\n"
    return text


def goal(each):
    return "–" if each["most"] is None else f"{number(each['most'])} {each['unit']}".strip()


def amount(each):
    return "–" if each["measured"] is None else f"{number(each['measured'])} {each['unit']}".strip()


def number(value):
    """Three digits that count."""
    return f"{value:.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def verdict(each, cell):
    """A cell that was cut short has met nothing."""
    if each["most"] is None:
        return ""
    if each["measured"] is None:
        return "not measured"
    if not cell.get("whole", True):
        return "cut short"
    return "met" if each["measured"] <= each["most"] else "missed"


def summary(cell):
    judged = [(each, "" if each["most"] is None else f" ({verdict(each, cell)}, at most {goal(each)})") for each in cell["figures"]]
    return "; ".join(f"{each['figure']} {amount(each)}{said}" for each, said in judged)
