"""Cells of the choice's table, drawn from a seed: a generated graph, a model, servers and links. No cell is written by hand."""
import math
import random
from dataclasses import dataclass

STEPS = 200  # that a job trains for; mini-batches as many steps
SERVERS = ((2, 1), (4, 1), (2, 2), (8, 1), (4, 2))  # and ranks of each


@dataclass(frozen=True)
class Cell:
    name: str
    job: dict       # spec of the manifest, without a strategy
    topology: dict
    exact: bool     # whether the manifest allows exact strategies alone


def cells(seed, count):
    return [draw(random.Random(f"choice {seed} {number}"), f"{seed}.{number}") for number in range(1, count + 1)]


def draw(rng, name):
    vertices, (servers, ranks), model = round(log_uniform(rng, 3000, 12000)), rng.choice(SERVERS), draw_model(rng)
    data = {"kind": "community", "vertices": vertices, "averageDegree": round(log_uniform(rng, 4, 100), 1), "features": round(log_uniform(rng, 16, 600)),
            "classes": rng.randint(4, 16), "homophily": round(rng.uniform(0.4, 0.9), 2), "seed": rng.randint(1, 10**6)}
    rows = vertices / (servers * ranks) * 4 * (data["features"] + 3 * (model["layers"] + 3) * model["hidden"])
    job = {"dataset": {"synthetic": data}, "model": model,
           "placement": {"ranks": servers * ranks, "ranksPerServer": ranks, "partitioner": rng.choice(("metis", "metis", "hash"))},
           # From what full batches just fit in to what copies of most of the graph do.
           "resources": {"cpu": 1, "memory": f"{math.ceil((rows + 60e6) * log_uniform(rng, 1, 4) / 2**20)}Mi"},
           "training": {"epochs": STEPS, "evaluateEvery": 2, "checkpoint": {"every": 0}}}
    topology = {"name": "drawn", "servers": servers, "ranksPerServer": ranks, "cores": 1,
                "between": {"rate": f"{log_uniform(rng, 100, 100000):.0f}mbit", "latency": f"{log_uniform(rng, 10, 200):.0f}us"},
                "inside": {"rate": f"{log_uniform(rng, 4, 40):.1f}GB/s", "latency": "10us", "perMegabyte": "0.15ms"},
                "costs": {"perMegabyte": "0.35ms", "perMessage": "10us"}}
    return Cell(name, job, topology, rng.random() < 0.5)


def draw_model(rng):
    kind = rng.choice(("gcn", "sage", "gat", "gin", "gcnii", "resgcn"))
    if kind in ("gcnii", "resgcn"):
        return {"kind": kind, "layers": rng.choice((8, 16)), "hidden": rng.choice((16, 32, 64))}
    hidden = rng.choice((16, 32, 64, 128))
    return {"kind": kind, "layers": rng.choice((2, 3, 4)), "hidden": hidden // 4 if kind == "gat" else hidden}


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def in_words(cell):
    data, model, links = cell.job["dataset"]["synthetic"], cell.job["model"], cell.topology
    return (f"{data['vertices']} vertices, {data['averageDegree']} neighbours, {data['features']} features; {model['kind']} {model['layers']} × {model['hidden']}; "
            f"{links['servers']} × {links['ranksPerServer']}, {links['between']['rate']}, {cell.job['resources']['memory']}, {cell.job['placement']['partitioner']}")
