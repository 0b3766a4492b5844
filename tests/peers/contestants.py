"""Runs one contestant once, as a process of its own: a peer's epoch.py or `atoll run`. Returns its measured line."""
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from data_root import DATA, ROOT
from manifest import manifest

DATASETS = ROOT / "build/peers-data"
PYTHON = ROOT / "build/peers-venv/bin/python"
# glibc keeps freed pages: the large temporaries of PyTorch else fault in anew at every epoch.
ALLOCATORS = {"installed": {},
              "tuned": {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "64000000000",
                        "MALLOC_TOP_PAD_": "268435456"}}


class Failed(Exception):
    """With what the contestant said last, paths relative to the repository."""

    def __init__(self, message):
        super().__init__(message.replace(f"{ROOT}/", "").replace(f"{DATA}/", ""))


def peer(case, way, allocator, seconds, limit):
    """`way` is (peer, variant, features); no epoch starts after `seconds`, the process is killed after `limit`."""
    command = ["tests/peers/epoch.py", "--case", case["name"], "--peer", way[0], "--variant", way[1],
               "--features", way[2], "--threads", str(case["threads"]), "--seconds", str(seconds)]
    environment = {**ALLOCATORS[allocator], "ATOLL_DATA": str(DATA)}
    line = last_line(run([str(PYTHON), "-W", "ignore", *command], environment, ROOT, limit), command)
    return {**line, "allocator": allocator, "command": " ".join(command)}


def atoll(binary, case, limit):
    imported(binary, case["dataset"])
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        job = Path(folder) / "job.yaml"
        job.write_text(json.dumps(manifest(case["name"], case), indent=1))
        command = [str(binary), "run", "-f", str(job), "--ranks", "1", "--threads", str(case["threads"]),
                   "--data-root", str(DATASETS), "--json"]
        lines = [json.loads(line) for line in run(command, {}, folder, limit).splitlines() if line.startswith("{")]
    seconds = [line["epochSeconds"] for line in lines if line.get("event") == "epoch"]
    result = next((line for line in reversed(lines) if line.get("event") == "result"), None)
    if not seconds or result is None:
        raise Failed(f"atoll {case['name']}: no epoch or no result among its JSON lines")
    return {"peer": "atoll", "case": case["name"], "threads": case["threads"], "epochs": len(seconds),
            "epochSecondsMin": min(seconds), "epochSecondsMedian": statistics.median(seconds),
            "peakMemoryBytes": sum(result["peakMemoryBytes"]),
            "command": f"atoll run -f {case['name']}.yaml --ranks 1 --threads {case['threads']} --json"}


def imported(binary, name):
    place = str(DATASETS / name)
    if subprocess.run([str(binary), "dataset", "info", place], capture_output=True).returncode == 0:
        return
    DATASETS.mkdir(parents=True, exist_ok=True)  # not there, or an older build's
    run([str(binary), "dataset", "import", "--format", "npy", "--replace", str(DATA / name), place], {}, ROOT, 600)


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
