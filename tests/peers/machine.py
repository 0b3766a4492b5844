"""The machine that figures were measured on, without its name."""
import os
import platform
from pathlib import Path


def describe():
    return {"cpu": field("/proc/cpuinfo", "model name"), "cores": len(os.sched_getaffinity(0)), "caches": caches(),
            "memory": field("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
            "avx512": "avx512f" in field("/proc/cpuinfo", "flags").split()}


def field(path, name):
    with open(path) as lines:
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "")


def caches():
    """Of the first core: {"L1 Data": "32K", …}."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        found[f"L{level} {kind}"] = size
    return found
