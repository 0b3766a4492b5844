"""What is simulated for the figures of GNNPipe and GraNNDis: a cell is one `atoll simulate`, recorded once and replayed over its topologies."""
from dataclasses import dataclass, field

BASELINE = "graph:overlap=false"
# Graphs that are generated have the shape of the named one, at a scale that all ranks together fit this machine and ten minutes.
DATA = {
    "ogbn_arxiv": {"name": "ogbn_arxiv"},
    "squirrel": {"name": "squirrel"},
    "flickr": {"synthetic": {"kind": "community", "preset": "flickr"}},
    "reddit": {"synthetic": {"kind": "community", "preset": "reddit", "scale": 0.05}},
    "reddit, all of it": {"synthetic": {"kind": "community", "preset": "reddit"}},
    "products": {"synthetic": {"kind": "community", "preset": "products", "scale": 0.03}},
}
# Chen et al. 2023, Tables 3 and 5: ms of communication and s of an epoch of the baseline; s of a pipeline of 8, and of 4 stages of 2 ranks.
GNNPIPE_PAPER = {
    "squirrel": {"gcn": (113.75, 0.19, 0.08, 0.11), "sage": (123.11, 0.27, 0.15, 0.19), "gcnii": (113.36, 0.20, 0.11, 0.14)},
    "flickr": {"gcn": (124.32, 0.16, 0.06, 0.09), "sage": (123.52, 0.17, 0.10, 0.13), "gcnii": (123.90, 0.17, 0.09, 0.12)},
    "reddit": {"gcn": (634.01, 0.87, 0.36, 0.39), "sage": (714.09, 1.08, 0.53, 0.57), "gcnii": (636.00, 0.90, 0.41, 0.45)},
}
GNNPIPE_LAYERS, GNNPIPE_HIDDEN = 32, {"squirrel": 1000}
# Song et al. 2024, section 8.2 and Table 4: expansion-aware sampling over the baseline, by layers.
GRANNDIS_PAPER = {"ogbn_arxiv": {3: 1.64, 28: 1.84, 56: 1.89}, "products": {3: 1.63, 28: 1.23, 56: 1.23}, "reddit": {3: 1.66, 28: 1.95, 56: 1.59}}
PRELOADING, SAMPLING = "granndis:maxHop=0:fanout=-1", "granndis"
# The part of the baseline's epoch that is communication between servers: told for 56 layers in section 8.2; for Reddit, what its speed-ups
# suggest.
EXTERNAL = {"ogbn_arxiv": 0.417, "products": 0.686, "reddit": 0.55}
SPEEDS = (1, 2, 4, 8, 16, 32)  # of a card, times a core here: that with which the external part comes nearest is shown


@dataclass(frozen=True)
class Cell:
    page: str  # docs/benchmarks/PAGE.md
    name: str
    dataset: str
    model: dict
    # Files' names; with "@free" links between servers take no time, with "@x8" computing is 8 times as fast, with "@interleaved" ranks
    # take turns on two servers.
    topologies: tuple
    strategies: tuple
    shares: tuple = ()
    training: dict = field(default_factory=dict)
    paper: dict = field(default_factory=dict)  # speed-up by strategy

    @property
    def manifest(self):
        return {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": "simulated"},
                "spec": {"dataset": DATA[self.dataset], "model": self.model, "training": {"epochs": 10, "dropout": 0.5} | self.training,
                         "output": {"path": "simulated"}}}


def gnnpipe_cell(dataset, model, topology, stages, paper):
    name = f"{dataset}, {model}, {stages[0]} ranks"
    labels = tuple(f"gnnpipe:stages={s}" for s in stages)
    share = round(paper[0] / 1e3 / paper[1], 3)
    return Cell("gnnpipe", name, dataset, {"kind": model, "layers": GNNPIPE_LAYERS, "hidden": GNNPIPE_HIDDEN.get(dataset, 100)},
                (topology,), (BASELINE, *labels), (share,), paper=dict(zip(labels, (paper[1] / paper[2], paper[1] / paper[3]), strict=True)))


def at_speeds(*names):
    """Each as fast a computer, with and without time between servers."""
    return tuple(f"{names[0]}@x{speed}@free" for speed in SPEEDS) + tuple(f"{name}@x{speed}" for name in names for speed in SPEEDS)


def granndis_cell(dataset, layers):
    model = {"kind": "sage" if layers == 3 else "resgcn", "layers": layers, "hidden": 64}
    return Cell("granndis", f"{dataset}, {layers} layers, 4 x 4", dataset, model,
                at_speeds("granndis-4x4", "granndis-4x4-nvlink"), (BASELINE, PRELOADING, SAMPLING),
                training={"recompute": "layer"} if layers > 3 else {}, paper={SAMPLING: GRANNDIS_PAPER[dataset][layers]})


def cells():
    for dataset, by_model in GNNPIPE_PAPER.items():
        for model, paper in by_model.items():
            yield gnnpipe_cell(dataset, model, "gnnpipe-2x4", (8, 4), paper)
    for model in ("gcn", "sage", "gcnii"):  # at flickr's shares: the paper has no ogbn_arxiv
        yield gnnpipe_cell("ogbn_arxiv", model, "gnnpipe-2x4", (8, 4), GNNPIPE_PAPER["flickr"][model])
    # Figure 5: two groups of four, each inside a server, and each with half its ranks on either.
    for grouping, topology in (("inside servers", "gnnpipe-2x4"), ("across servers", "gnnpipe-2x4@interleaved")):
        yield Cell("gnnpipe", f"flickr, gcnii, two groups of four {grouping}", "flickr",
                   {"kind": "gcnii", "layers": GNNPIPE_LAYERS, "hidden": 100}, (topology,), (BASELINE, "gnnpipe:stages=2"), (0.729,))
    # The topology itself: 8 of the baseline's 32 layers, whose 7 exchanges each way are like the 31.
    yield Cell("gnnpipe", "the paper's baseline", "reddit, all of it", {"kind": "gcn", "layers": 8, "hidden": 100}, ("gnnpipe-2x4@x60",),
               (BASELINE,), paper={"seconds": 634.01e-3, "bytes": 14.50e9, "exchanges": 31 / 7})
    yield gnnpipe_cell("flickr", "gcnii", "gnnpipe-4x4", (16, 8), GNNPIPE_PAPER["flickr"]["gcnii"])
    for dataset in ("ogbn_arxiv", "products", "reddit"):
        for layers in (3, 28):
            yield granndis_cell(dataset, layers)
    yield granndis_cell("ogbn_arxiv", 56)
    everybody = (BASELINE, PRELOADING, SAMPLING, "pipegcn", "bns", "cagnet", "sancus")
    yield Cell("granndis", "ogbn_arxiv, 3 layers, 2 x 4", "ogbn_arxiv", {"kind": "sage", "layers": 3, "hidden": 64},
               at_speeds("granndis-2x4-10gbe", "granndis-2x4-1gbe"), everybody)
    yield Cell("pipegcn", "ogbn_arxiv, 4 servers", "ogbn_arxiv", {"kind": "sage", "layers": 3, "hidden": 128}, ("pipegcn-4x1",),
               (BASELINE, "graph", "pipegcn:smoothing=none"), (0.5, 0.65, 0.8))
    yield Cell("pipegcn", "ogbn_arxiv, 8 servers", "ogbn_arxiv", {"kind": "sage", "layers": 3, "hidden": 128}, ("pipegcn-8x1",),
               (BASELINE, "graph", "pipegcn:smoothing=none"), (0.5, 0.65, 0.8))
