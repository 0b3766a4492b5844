"""Cells of the choice's table, drawn from a seed: a generated graph, a model, servers and links. No cell is written by hand, and no range is
chosen for what is chosen there: docs/benchmarks/choice.md says where each comes from.

The next seed isn't chosen either. When program, table and generator are committed, it is the first six digits of that commit's hash:
    make judge-choice OPTIONS="--cells 12 --seed $((16#$(git rev-parse HEAD | cut -c1-6)))"
When a seed's cells have shown what to mend, it goes to KNOWN, and tests/accuracy/effects --write takes its runs into the program's table."""
import copy
import math
import random
from dataclasses import dataclass, replace

STEPS = 200  # that a job trains for; mini-batches as many steps
SERVERS = ((2, 1), (4, 1), (2, 2), (8, 1), (4, 2))  # and ranks of each
ARCS, VALUES = 4e5, 6e6  # at most, and values of all features: what a cell's time allows
RATES, RIG_RATES = (60, 6400), (60, 1000)  # Mbit/s of a server's link, for each of its ranks, which have a core
RIG = "rig "  # before names of its cells
KNOWN = (1, 4, 5, 6, 10590710)  # seeds whose runs are in the program's table, and whose wrong choices were looked at: they judge nothing any more
EXACT = 1 / 3  # of manifests
PROGRAM = 24  # MiB of a rank that holds nothing
# Of a rank, over what `graph` takes. In graphs this small a batch's neighbours are most of the graph: p3
# takes 1.3 to 6 times what `graph` does, dgs 2 to 7, minibatch and pipegcn up to 4. With room for 4 at most,
# p3 had room in a quarter of the cells and dgs in a seventh; with 8, each in a third at least.
ROOM = (1.05, 8)
DRAWN = """A graph has 3,000 to 30,000 vertices, 4 to 100 neighbours each and at most 400,000 arcs; 16 to 1,000 features; 4 to 16 classes, of which neighbours share 40 to
90 %. Of its vertices 1 to 66 % train, as those of ogbn_papers100M and Reddit do. Models are the six kinds of convolutions and sign: the deep ones (gcnii, resgcn) have 8 or
16 layers, sign reads 2 to 4 hops, the others have 2 to 4 layers, of 16 to 128 columns. 2 to 8 ranks are on servers of 1 or 2, with parts by metis, or every third time by hash. A rank has memory
for what full batches take under `graph`, or for up to eight times as much (four in seeds 1 to 6, where no model is sign). A rank has a core; its server's link has 60 Mbit/s to 6.4 Gbit/s for each, as one of 1 to
100 Gbit/s has for each of 16 cores. All sizes are drawn evenly by their logarithm. A third of the manifests asks for an exact strategy. On the rig there
are 2 to 4 ranks, and up to 1 Gbit/s for each.
"""


@dataclass(frozen=True)
class Cell:
    name: str
    job: dict       # spec of the manifest, without a strategy
    topology: dict
    exact: bool     # whether the manifest allows exact strategies alone
    room: float     # memory of a rank, over what `graph` takes beside the program
    on_rig: bool


def seed_of(name):
    return int(name.removeprefix(RIG).split(".")[0])


def cells(seed, count, on_rig=False):
    place = RIG if on_rig else ""
    return [draw(random.Random(f"choice {place}{seed} {number}"), f"{place}{seed}.{number}", on_rig) for number in range(1, count + 1)]


def draw(rng, name, on_rig):
    servers, ranks = rng.choice(SERVERS[:3] if on_rig else SERVERS)
    job = {"dataset": {"synthetic": draw_graph(rng)}, "model": draw_model(rng),
           "placement": {"ranks": servers * ranks, "ranksPerServer": ranks, "partitioner": rng.choice(("metis", "metis", "hash"))},
           "resources": {"cpu": 1}, "training": {"epochs": STEPS, "evaluateEvery": 2, "checkpoint": {"every": 0}}}
    mbit, latency = ranks * log_uniform(rng, *(RIG_RATES if on_rig else RATES)), log_uniform(rng, 10, 200)
    inside = {"rate": f"{log_uniform(rng, 4, 40):.1f}GB/s", "latency": "10us", "perMegabyte": "0.15ms"}
    topology = {"name": "drawn", "servers": servers, "ranksPerServer": ranks, "cores": 1,
                "between": {"rate": f"{mbit:.0f}mbit", "latency": f"{latency:.0f}us"}, "inside": inside, "costs": {"perMegabyte": "0.35ms", "perMessage": "10us"}}
    return Cell(name, job, topology, rng.random() < EXACT, log_uniform(rng, *ROOM), on_rig)


def draw_graph(rng):
    vertices, degree = log_uniform(rng, 3000, 30000), log_uniform(rng, 4, 100)
    vertices = round(min(vertices, ARCS / degree))
    features = round(min(log_uniform(rng, 16, 1000), VALUES / vertices))
    return {"kind": "community", "vertices": vertices, "averageDegree": round(degree, 1), "features": features, "classes": rng.randint(4, 16),
            "homophily": round(rng.uniform(0.4, 0.9), 2), "trainShare": round(log_uniform(rng, 0.01, 0.66), 3), "seed": rng.randint(1, 10**6)}


def draw_model(rng):
    kind = rng.choice(("gcn", "sage", "gat", "gin", "gcnii", "resgcn", "sign"))
    if kind in ("gcnii", "resgcn"):
        return {"kind": kind, "layers": rng.choice((8, 16)), "hidden": rng.choice((16, 32, 64))}
    hidden = rng.choice((16, 32, 64, 128))
    if kind == "sign":
        return {"kind": kind, "hidden": hidden, "options": {"hops": rng.choice((2, 3, 4))}}
    return {"kind": kind, "layers": rng.choice((2, 3, 4)), "hidden": hidden // 4 if kind == "gat" else hidden}


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def with_memory(cell, peak):
    """peak: bytes that the largest rank takes under `graph`."""
    job = copy.deepcopy(cell.job)
    job["resources"]["memory"] = f"{PROGRAM + math.ceil((peak / 2**20 - PROGRAM) * cell.room)}Mi"
    return replace(cell, job=job)


def in_words(cell):
    data, model, links = cell.job["dataset"]["synthetic"], cell.job["model"], cell.topology
    depth = model["options"]["hops"] if model["kind"] == "sign" else model["layers"]
    return (f"{data['vertices']} vertices, {100 * data['trainShare']:.0f} % train, {data['averageDegree']} neighbours, {data['features']} features; "
            f"{model['kind']} {depth} × {model['hidden']}; {links['servers']} × {links['ranksPerServer']}, {links['between']['rate']}, "
            f"{cell.job['resources']['memory']}, {cell.job['placement']['partitioner']}")


def model_and_cut(words):
    """(the model's kind, whether parts are by hash) of a cell in_words()."""
    return words.split("; ")[1].split(" ")[0], words.endswith(", hash")
