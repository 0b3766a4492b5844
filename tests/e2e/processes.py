"""Finding the processes of a running job: `atoll run` → mpirun → one `atoll train` a rank."""
import os
import pathlib
import signal
import time


def _read(path):
    """The text of a process's file, or "" when the process is gone."""
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def _stat(pid):
    """(name, parent, state) of a process, or None when it is gone."""
    text = _read(f"/proc/{pid}/stat")
    if not text:
        return None
    name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
    return name, int(rest[1]), rest[0]


def descendants(root):
    """{pid: name} of the processes below `root`, itself not included."""
    parents = {}
    for entry in os.listdir("/proc"):
        stat = _stat(entry) if entry.isdigit() else None
        if stat:
            parents[int(entry)] = stat
    found, grew = {}, True
    while grew:
        grew = False
        for pid, (name, parent, _) in parents.items():
            if pid not in found and (parent == root or parent in found):
                found[pid] = name
                grew = True
    return found


def mpirun(root):
    return next((pid for pid, name in descendants(root).items() if name in {"mpirun", "mpiexec", "orterun"}), None)


def ranks(root):
    """The pids of the rank processes, in the order of their ranks: mpirun tells each its number. Their pids have any order.
    A process that ends meanwhile is left out."""
    parent, numbered = mpirun(root), {}
    for pid in [pid for pid, name in descendants(parent).items() if name == "atoll"] if parent else []:
        variables = _read(f"/proc/{pid}/environ").split("\0")
        rank = dict(each.split("=", 1) for each in variables if "=" in each).get("OMPI_COMM_WORLD_RANK")
        if rank is not None:
            numbered[int(rank)] = pid
    return [numbered[rank] for rank in sorted(numbered)]


def stop(pid):
    """Stops a process and returns once all its threads stand: on a loaded machine they go on for a moment."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while not _stands(pid) and time.monotonic() < deadline:
        time.sleep(0.005)


def _stands(pid):
    """Whether all threads of a process stand. Those that end meanwhile count as such."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    texts = [_read(f"/proc/{pid}/task/{each}/stat") for each in threads]
    return all(text[text.rindex(")") + 2] in "TtZX" for text in texts if text)


def alive(pid):
    stat = _stat(pid)
    return stat is not None and stat[2] != "Z"


def still_alive(pids, seconds):
    """Those of `pids` that are alive after waiting `seconds` for them to end."""
    deadline = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [pid for pid in pids if alive(pid)]
