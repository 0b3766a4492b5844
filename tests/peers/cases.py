"""The table of timing cases, cases.json, with each case's defaults filled in."""
import json
from pathlib import Path

TABLE = json.loads((Path(__file__).parent / "cases.json").read_text())


def all_cases():
    return [{**TABLE["defaults"], **TABLE["models"][case["model"]], **case} for case in TABLE["cases"]]


def named(name):
    for case in all_cases():
        if case["name"] == name:
            return case
    raise SystemExit(f"{name}: no such case; known: {', '.join(case['name'] for case in all_cases())}")


def candidates(case):
    """(peer, variant, features) of every way in which a peer runs this case."""
    kind = f"{case['kind']} batches" if "batchSize" in case else f"{case['kind']} {case['features']}"
    ways = (way.split("/") for way in TABLE["candidates"][kind])
    return [(way[0], way[1], way[2] if len(way) > 2 else case["features"]) for way in ways]
