"""What strategies take in a cell of the choice's table: seconds of an epoch, replayed or on the rig, and epochs until `graph`'s accuracy."""
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
import choice_cells  # noqa: E402
from data_root import ROOT  # noqa: E402

ATOLL = os.environ.get("ATOLL", str(ROOT / "build/atoll"))
CELL_SECONDS = 600
EPOCHS = 6      # recorded
RIG_EPOCHS = 8  # the second half is judged: links fill up in the first ones where rows are late
HEADERS = 0.94  # of a link's bytes on the rig are ours (docs/rig.md)
CORES = 2       # that ranks of the rig share
PATIENCE = 3    # times as many steps, and as much time, as graph has
SEVERAL_STEPS = ("minibatch", "p3", "dgs")  # kinds whose epoch has many
POINTS = 0.5    # below graph's best validation accuracy: until then


def run(folder, *words, before=()):
    done = subprocess.run([*map(str, before), ATOLL, *map(str, words)], cwd=folder, capture_output=True, text=True, timeout=CELL_SECONDS, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def write_job(folder, name, spec):
    (folder / name).write_text(json.dumps({"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": "choice"}, "spec": spec}))


def told_topology(cell):
    """What the chooser is told of the cell's servers: of the rig, what docs/rig.md says of it."""
    if not cell.on_rig:
        return cell.topology
    ranks = cell.topology["servers"] * cell.topology["ranksPerServer"]
    return cell.topology | {"name": "rig", "cores": CORES / ranks, "between": {"rate": f"{HEADERS * mbit_of(cell):g}mbit", "latency": "100us"},
                            "inside": {"rate": "2GB/s", "latency": "20us", "perMegabyte": "0.15ms"}}


def mbit_of(cell):
    return int(cell.topology["between"]["rate"].removesuffix("mbit"))


def epoch_seconds(cell, names, folder):
    return on_rig(cell, names, folder) if cell.on_rig else replayed(names, folder)


def replayed(names, folder):
    told = run(folder, "simulate", "-f", "job.yaml", "--topology", "topology.yaml", "--json", "--epochs", EPOCHS, "--strategies", ",".join(names))
    return {each["strategy"]: each["epochSeconds"] for each in told["simulations"][0]["strategies"]}


def on_rig(cell, names, folder):
    servers, ranks = cell.topology["servers"], cell.topology["ranksPerServer"]
    rig = [HERE.parent / "rig/run", "--servers", servers, "--ranks-per-server", ranks, "--link", cell.topology["between"]["rate"],
           "--cpu-per-rank", CORES / (servers * ranks), "--"]
    write_job(folder, "rig.yaml", cell.job | {"resources": {"cpu": 1}, "output": {"path": "rig"},
                                              "training": cell.job["training"] | {"epochs": RIG_EPOCHS, "evaluateEvery": RIG_EPOCHS}})
    run(folder, "bench", "strategies", "-f", "rig.yaml", "--rounds", 1, "--output", folder / "rounds", "--json", "--strategies", ",".join(names), before=rig)
    return {name: mean_epoch(folder / "rounds/round-1" / f"{number}-{name.split(':')[0]}") for number, name in enumerate(names, 1)}


def mean_epoch(run_folder):
    seconds = [record["epochSeconds"] for record in records_of(run_folder)]
    judged = seconds[len(seconds) // 2:]
    return sum(judged) / len(judged)


def records_of(run_folder):
    """Of a run that may not have ended."""
    return [json.loads(line) for line in (run_folder / "metrics.jsonl").read_text().splitlines(keepends=True) if line.endswith("\n")]


def epochs_needed(cell, fit, seconds, folder):
    """By strategy, as they are counted against each other: exact ones need what graph does. None: it isn't there after PATIENCE times as many steps as
    graph is given, nor as much time as graph takes to get there."""
    plain = curve(cell, "graph", choice_cells.STEPS, folder)
    wanted = max(value for _, value in plain) - POINTS / 100
    graphs = reached(plain, wanted)
    longest = {name: int(PATIENCE * graphs * seconds["graph"] / seconds[name]) for name in fit}
    return {name: graphs if each["exact"] else needed(cell, name, each["steps"], longest[name], wanted, folder) for name, each in fit.items()}


def needed(cell, name, steps, longest, wanted, folder):
    """Trains for as many steps as graph, and only then for more."""
    for times in (1, PATIENCE):
        epochs = min(max(1, round(times * choice_cells.STEPS / steps)), longest)
        found = reached(curve(cell, name, epochs, folder, wanted), wanted) if epochs > 0 else None
        if found or epochs == longest:
            return found
    return None


def reached(curve_of, wanted):
    return next((epoch for epoch, value in curve_of if value >= wanted), None)


def curve(cell, name, epochs, folder, until=math.inf):
    """(epoch, validation accuracy) of a run, which ends where it gets so far."""
    kind, *options = name.split(":")
    given = {key: value if value[0].isalpha() else json.loads(value) for key, value in (each.split("=") for each in options)}
    training = cell.job["training"] | {"epochs": epochs} | ({"evaluateEvery": 1} if kind in SEVERAL_STEPS else {})
    path = f"trained-{name.replace(':', '-').replace('=', '-')}"
    write_job(folder, "train.yaml", cell.job | {"strategy": {"kind": kind} | ({kind: given} if given else {}), "resources": {}, "training": training,
                                                "output": {"path": path}})
    with (folder / "train.log").open("w") as log, subprocess.Popen([ATOLL, "run", "-f", "train.yaml", "--fresh", "--quiet"], cwd=folder, stdout=log, stderr=log) as process:
        ended = False
        while process.poll() is None:
            time.sleep(0.3)
            if reached(validations(folder / "runs" / path), until):
                ended = True
                process.terminate()  # at the first it would save a checkpoint
    if process.returncode != 0 and not ended:
        raise SystemExit(f"{name}: status {process.returncode}\n{(folder / 'train.log').read_text()[-2000:]}")
    return validations(folder / "runs" / path)


def validations(run_folder):
    if not (run_folder / "metrics.jsonl").exists():
        return []
    return [(each["epoch"], each["validation"]) for each in records_of(run_folder) if each.get("validation") is not None]
