"""Runs one contestant once, as a process of its own: a peer's epoch.py, `atoll run` or `atoll bench`. Returns its measured line."""
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from cases import TABLE
from data_root import DATA, ROOT
from manifest import manifest

DATASETS = ROOT / "build/peers-data"
GENERATED = ROOT / "build/peers-npy"   # as the peers read them
PYTHON = ROOT / "build/peers-venv/bin/python"
# glibc keeps freed pages: the large temporaries of PyTorch else fault in anew at every epoch.
ALLOCATORS = {"installed": {},
              "tuned": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000",
                        "MALLOC_TOP_PAD_": "268435456"}}


class Failed(Exception):
    """With what the contestant said last, paths relative to the repository."""

    def __init__(self, message):
        super().__init__(message.replace(f"{ROOT}/", "").replace(f"{DATA}/", ""))


def peer(case, way, allocator, seconds, limit, *more):
    """`way` is (peer, variant, features); no epoch starts after `seconds`, the process is killed after `limit`; `more`: arguments."""
    command = ["tests/peers/epoch.py", "--case", case["name"], "--peer", way[0], "--variant", way[1],
               "--features", way[2], "--threads", str(case["threads"]), "--seconds", str(seconds), *more]
    source = GENERATED if case["dataset"] in TABLE["generated"] else DATA
    line = last_line(run([str(PYTHON), "-W", "ignore", *command], {**ALLOCATORS[allocator], "ATOLL_DATA": str(source)}, ROOT,
                         limit), command)
    return {**line, "allocator": allocator, "command": " ".join(command)}


def atoll(binary, case, limit):
    lines = atoll_lines(binary, case, limit, ["run", "--ranks", "1"])
    seconds = [line["epochSeconds"] for line in lines if line.get("event") == "epoch"]
    if not seconds:
        raise Failed(f"atoll {case['name']}: no epoch among its JSON lines")
    return {"peer": "atoll", "case": case["name"], "threads": case["threads"], "epochs": len(seconds),
            "epochSecondsMin": min(seconds), "epochSecondsMedian": statistics.median(seconds),
            "peakMemoryBytes": peak_memory(case, lines),
            "command": f"atoll run -f {case['name']}.yaml --ranks 1 --threads {case['threads']} --json"}


def peak_memory(case, lines):
    result = next((line for line in reversed(lines) if line.get("event") == "result"), None)
    if result is None:
        raise Failed(f"atoll {case['name']}: no result among its JSON lines")
    return sum(result["peakMemoryBytes"])


def atoll_curve(binary, case, seed, limit):
    lines = atoll_lines(binary, {**case, "evaluateEvery": 1}, limit, ["run", "--ranks", "1"], seed)
    return {"peer": "atoll", "case": case["name"], "seed": seed,
            "validation": [line["validation"] for line in lines if line.get("event") == "epoch"],
            "peakMemoryBytes": peak_memory(case, lines),
            "command": f"atoll run -f {case['name']}.yaml --ranks 1 --threads {case['threads']} --json"}


def atoll_sampling(binary, case, limit):
    lines = atoll_lines(binary, case, limit, ["bench", "batches", "--epochs", str(case["epochs"])])
    rate = next((line["arcsPerSecond"] for line in lines if line.get("event") == "bench"), None)
    if rate is None:
        raise Failed(f"atoll bench batches, {case['name']}: no rate among its JSON lines")
    return {"peer": "atoll", "case": case["name"], "threads": case["threads"], "epochs": case["epochs"], "arcsPerSecond": rate,
            "command": f"atoll bench batches -f {case['name']}.yaml --threads {case['threads']} --json"}


def atoll_lines(binary, case, limit, what, seed=1):
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        job = Path(folder) / "job.yaml"
        job.write_text(json.dumps(manifest(case["name"], case, seed), indent=1))
        command = [str(binary), *what, "-f", str(job), "--threads", str(case["threads"]), "--data-root", str(DATASETS), "--json"]
        return [json.loads(line) for line in run(command, {}, folder, limit).splitlines() if line.startswith("{")]


def prepare(binary, name):
    """Makes the data set where it isn't there, or is an older build's: imported, or generated and exported for the peers."""
    place, options = str(DATASETS / name), TABLE["generated"].get(name)
    if subprocess.run([str(binary), "dataset", "info", place], capture_output=True).returncode == 0:
        return
    DATASETS.mkdir(parents=True, exist_ok=True)
    if options is None:
        run([str(binary), "dataset", "import", "--format", "npy", "--replace", str(DATA / name), place], {}, ROOT, 600)
        return
    GENERATED.mkdir(parents=True, exist_ok=True)
    run([str(binary), "dataset", "generate", *options, "--replace", place], {}, ROOT, 600)
    run([str(binary), "dataset", "export", "--replace", place, str(GENERATED / name)], {}, ROOT, 600)


def run(command, environment, folder, limit):
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, cwd=folder, timeout=limit,
                              capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)}: not done after {limit:.0f} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def last_line(output, command):
    try:
        return json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        raise Failed(f"{' '.join(command)}: printed no JSON line") from None
