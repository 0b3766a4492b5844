"""Cells of the choice's table, drawn from a seed: a generated graph, a model, servers and links. No cell is written by hand."""
import math
import random
from dataclasses import dataclass

STEPS = 300  # that a job trains for where accuracy is judged; mini-batches as many steps
BATCH = 512


@dataclass(frozen=True)
class Cell:
    name: str
    job: dict       # spec of the manifest, without a strategy
    topology: dict
    training: int   # vertices, about


def cells(seed, count):
    return [draw(random.Random(f"choice {seed} {number}"), f"{seed}.{number}") for number in range(1, count + 1)]


def draw(rng, name):
    vertices = round(log_uniform(rng, 4000, 40000))
    servers, ranks = rng.choice(((2, 1), (4, 1), (2, 2), (8, 1), (4, 2)))
    kind = rng.choice(("gcn", "sage", "gat", "gin", "gcnii"))
    layers = rng.choice((4, 8)) if kind == "gcnii" else rng.choice((2, 3, 4))
    data = {"kind": "community", "vertices": vertices, "averageDegree": round(log_uniform(rng, 4, 50), 1), "features": round(log_uniform(rng, 16, 600)),
            "classes": rng.randint(4, 16), "homophily": round(rng.uniform(0.4, 0.9), 2), "seed": rng.randint(1, 10**6)}
    hidden = rng.choice((16, 32, 64, 128))
    model = {"kind": kind, "layers": layers, "hidden": hidden // 4 if kind == "gat" else hidden}
    job = {"dataset": {"synthetic": data}, "model": model, "placement": {"ranks": servers * ranks, "ranksPerServer": ranks}, "resources": {"cpu": 1},
           "training": {"epochs": STEPS, "evaluateEvery": 4, "checkpoint": {"every": 0}}}
    topology = {"name": "drawn", "servers": servers, "ranksPerServer": ranks, "cores": 1,
                "between": {"rate": f"{log_uniform(rng, 100, 25000):.0f}mbit", "latency": f"{log_uniform(rng, 10, 200):.0f}us"},
                "inside": {"rate": f"{log_uniform(rng, 4, 40):.1f}GB/s", "latency": "10us", "perMegabyte": "0.15ms"},
                "costs": {"perMegabyte": "0.35ms", "perMessage": "10us"}}
    return Cell(name, job, topology, vertices * 6 // 10)


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def in_words(cell):
    data, model, links = cell.job["dataset"]["synthetic"], cell.job["model"], cell.topology
    return (f"{data['vertices']} vertices, {data['averageDegree']} neighbours, {data['features']} features; {model['kind']} {model['layers']} × {model['hidden']}; "
            f"{links['servers']} × {links['ranksPerServer']}, {links['between']['rate']}")
