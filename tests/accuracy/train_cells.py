"""Trains cells: every one is an `atoll run`, stored as it finishes and skipped when asked for again."""
import json
import os
import subprocess
import sys
import time

import accuracy_cells as cases
from data_root import DATA, ROOT

ATOLL = os.environ.get("ATOLL", str(ROOT / "build" / "atoll"))
ATOLL_F64 = os.environ.get("ATOLL_F64", ATOLL + "_f64")
CELL_SECONDS = int(os.environ.get("CELL_SECONDS", "600"))


def train(cell, results, folder, again=False, read=lambda output: {}):
    """The stored result; None where the data set isn't at hand. `again`: measured anew, even if it is stored; `read`: what else to
    store of the run's output folder."""
    if again or not results.get(cell.name):
        source = cases.source_of(cell, ROOT, DATA)
        if source is None:
            print(f"{cell.name}: skipped, {DATA / cell.dataset} is not here", flush=True)
            return None
        told = _run(cell, source, folder)
        print(f"{cell.name}: {told}", flush=True)
        results.put(cell.name, told | read(folder / "out" / cell.name))
    return results.get(cell.name)


def _run(cell, source, folder):
    """Imports the data set once, trains, returns the result's figures."""
    if not (folder / cell.dataset).exists():
        subprocess.run([ATOLL, "dataset", "import", "--format", "npy", source, folder / cell.dataset, *cell.imported], check=True,
                       stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    job = folder / f"{cell.name}.yaml"
    job.write_text(cell.manifest)
    command = [ATOLL_F64 if cell.float64 else ATOLL, "run", "-f", job, "--data-root", folder, "--output", folder / "out" / cell.name,
               "--fresh", "--json"]
    for change in cell.changes:
        command += ["--set", change]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=CELL_SECONDS)
    except subprocess.TimeoutExpired:
        sys.exit(f"{cell.name}: not finished within {CELL_SECONDS} s (CELL_SECONDS in the environment allows more)")
    if done.returncode != 0:
        sys.exit(f"{cell.name}: {done.stderr.strip()}")
    result = json.loads(done.stdout.splitlines()[-1])
    return {"test": result["test"], "validation": result["validation"], "bestEpoch": result["bestEpoch"],
            "seconds": round(time.monotonic() - begin, 1)}
