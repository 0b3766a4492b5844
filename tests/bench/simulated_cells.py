"""What is simulated for the figures of GNNPipe and GraNNDis: a cell is one `atoll simulate`, recorded once and replayed over its topologies."""
from dataclasses import dataclass, field, replace

BASELINE = "graph:overlap=false:haloRows=inputs"
# Graphs that are generated have the shape of the named one, at a scale that all ranks together fit this
# machine and ten minutes.
DATA = {
    "ogbn_arxiv": {"name": "ogbn_arxiv"},
    "squirrel": {"name": "squirrel"},
    **{name: {"name": name} for name in ("amazon_computers", "musae_facebook", "fb_nyu")},
    "flickr": {"synthetic": {"kind": "community", "preset": "flickr"}},
    "reddit": {"synthetic": {"kind": "community", "preset": "reddit", "scale": 0.05}},
    "reddit, all of it": {"synthetic": {"kind": "community", "preset": "reddit"}},
    "products": {"synthetic": {"kind": "community", "preset": "products", "scale": 0.03}},
    "products, 100 features": {"synthetic": {"kind": "community", "preset": "products", "scale": 0.05, "features": 100}},
    "products, 600 features": {"synthetic": {"kind": "community", "preset": "products", "scale": 0.05, "features": 600}},
    "yelp": {"synthetic": {"kind": "community", "preset": "yelp", "scale": 0.1}},
    # ogbn_papers100M's neighbours, classes and features, a thousandth of its vertices; more of them train,
    # for more than one batch.
    **{f"papers, {features} features": {"synthetic": {"kind": "community", "vertices": 111000, "averageDegree": 29, "features": features, "classes": 172,
                                                      "trainShare": 0.1}} for features in (16, 64, 128, 256, 512)},
    # Larger where training vertices alone have arcs:
    "reddit, a fifth": {"synthetic": {"kind": "community", "preset": "reddit", "scale": 0.2}},
    "products, a third": {"synthetic": {"kind": "community", "preset": "products", "scale": 0.3}},
}
# Chen et al. 2023, Tables 3 and 5: ms of communication and s of an epoch of the baseline; s of a pipeline of
# 8, and of 4 stages of 2 ranks.
GNNPIPE_PAPER = {
    "squirrel": {"gcn": (113.75, 0.19, 0.08, 0.11), "sage": (123.11, 0.27, 0.15, 0.19), "gcnii": (113.36, 0.20, 0.11, 0.14)},
    "flickr": {"gcn": (124.32, 0.16, 0.06, 0.09), "sage": (123.52, 0.17, 0.10, 0.13), "gcnii": (123.90, 0.17, 0.09, 0.12)},
    "reddit": {"gcn": (634.01, 0.87, 0.36, 0.39), "sage": (714.09, 1.08, 0.53, 0.57), "gcnii": (636.00, 0.90, 0.41, 0.45)},
}
GNNPIPE_LAYERS, GNNPIPE_HIDDEN = 32, {"squirrel": 1000}
# Song et al. 2024, section 8.2 and Table 4: expansion-aware sampling over the baseline, by layers.
GRANNDIS_PAPER = {"ogbn_arxiv": {3: 1.64, 28: 1.84, 56: 1.89}, "products": {3: 1.63, 28: 1.23, 56: 1.23}, "reddit": {3: 1.66, 28: 1.95, 56: 1.59}}
PRELOADING, SAMPLING = "granndis:maxHop=0:fanout=-1", "granndis"
PRELOADING_PAPER = {("ogbn_arxiv", 56): {"granndis-4x4": 1.65, "granndis-4x4-nvlink": 1.80}}  # section 8.2
OTHERS_PAPER = (1.68, 10.74)  # section 8.6: GraNNDis over CAGNET, BNS and Sancus, of Products and Reddit
# The part of the baseline's epoch that is communication between servers: told for 56 layers in section 8.2;
# for Reddit, what its speed-ups suggest.
EXTERNAL = {"ogbn_arxiv": 0.417, "products": 0.686, "reddit": 0.55}
RANDOM = {"ogbn_arxiv": 1.65, "products": 2.85, "reddit": 2.75}  # Figure 14: parts drawn at random
# Of the artifact's appendix: all copies of three hops (FLX), 25 of a vertex' neighbours (CoB), one hop and 15
# (EAS).
ARTIFACT = {"granndis:maxHop=3:fanout=-1": {"ogbn_arxiv": 1.79, "products": 3.98, "reddit": 5.13},
            "granndis:maxHop=3:fanout=25:batches=1": {"ogbn_arxiv": 1.75, "products": 3.65, "reddit": 4.97},
            "granndis:maxHop=1:fanout=15": {"ogbn_arxiv": 1.32, "products": 4.37, "reddit": 5.98}}
SPEED = {"ogbn_arxiv": 1, "products": 8, "reddit": 2}  # of a card, for 3 layers: where the external part is nearest to EXTERNAL
A6000 = 64  # about how many times as fast as a core's its memory is
SPEEDS = (1, 2, 4, 8, 16, 32)  # of a card, times a core here: that with which the external part comes nearest is shown


# Gandhi & Iyer 2021, Table 4: P3 over DGL, by graph and model.
P3_PAPER = {"products": {"sgc": 4.45, "gcn": 4.12, "sage": 3.83, "gat": 2.65}, "papers": {"gcn": 3.67, "sage": 3.16}}
P100 = 16  # times as fast as a core here
# Section 4: 25 neighbours of a batch's vertices, then 10 of each of those. The engine's list has the input
# layer first.
P3_OPTIONS = "batchSize=1000:fanout=[10,25]"
# Wan et al. 2022, section V-A; batches of 1,024 for each worker.
DGS_OPTIONS = "fanout=[64,64]:threads=8:prefetch=8"


@dataclass(frozen=True)
class Cell:
    page: str  # docs/benchmarks/PAGE.md
    name: str
    dataset: str
    model: dict
    # Files' names; with "@free" links between servers take no time, with "@x8" computing is 8 times as fast,
    # with "@c16" a rank has 16 cores, with "@interleaved" ranks take turns on two servers.
    topologies: tuple
    strategies: tuple
    shares: tuple = ()
    training: dict = field(default_factory=dict)
    placement: dict = field(default_factory=dict)
    paper: dict = field(default_factory=dict)  # speed-up by strategy; of GraNNDis' tables by topology, then by strategy
    compared: bool = False  # strategies with the first one, over one topology
    recorded: int = 0  # epochs, where what is compared begins late

    @property
    def epochs(self):
        """To record; the second half is judged. Links fill up in the first ones where rows are late by an epoch."""
        if self.recorded:
            return self.recorded
        return 8 if any(label.startswith("pipegcn") for label in self.strategies) else 4

    @property
    def manifest(self):
        return {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": "simulated"},
                "spec": {"dataset": DATA[self.dataset], "model": self.model, "training": {"epochs": 10, "dropout": 0.5} | self.training,
                         "placement": self.placement, "output": {"path": "simulated"}}}


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
                training={"recompute": "layer"} if layers > 3 else {},
                paper=granndis_paper(dataset, layers))


def granndis_paper(dataset, layers):
    """By topology and strategy."""
    told = {name: {PRELOADING: times} for name, times in PRELOADING_PAPER.get((dataset, layers), {}).items()}
    return told | {"granndis-4x4": told.get("granndis-4x4", {}) | {SAMPLING: GRANNDIS_PAPER[dataset][layers]}}


def compared(name, dataset, strategies, topology, speed, *, layers=3, **more):
    model = {"kind": "sage" if layers == 3 else "resgcn", "layers": layers, "hidden": 64} | more.pop("model", {})
    return Cell("granndis", f"{dataset}, {name}", dataset, model, (f"{topology}@x{speed}",), tuple(strategies), compared=True, **more)


def granndis_comparisons():
    for dataset, times in RANDOM.items():
        yield compared("3 layers, random parts, 4 x 4", dataset, (BASELINE, PRELOADING, SAMPLING), "granndis-4x4", SPEED[dataset],
                       placement={"partitioner": "hash"}, paper={SAMPLING: times})
    for dataset in ("ogbn_arxiv", "products, a third", "reddit, a fifth"):
        yield compared("the artifact's settings, 2 x 4", dataset, (BASELINE, *ARTIFACT), "granndis-2x4-10gbe", A6000,
                       model={"denseLayers": 1, "norm": "layer"}, training={"setting": "inductive"},
                       paper={label: times[dataset.split(",")[0]] for label, times in ARTIFACT.items()})
    yield compared("the artifact's settings, parts by ids, 2 x 4", "ogbn_arxiv", (BASELINE, *ARTIFACT), "granndis-2x4-10gbe", A6000,
                   model={"denseLayers": 1, "norm": "layer"}, training={"setting": "inductive"}, placement={"partitioner": "range"},
                   paper={label: times["ogbn_arxiv"] for label, times in ARTIFACT.items()})
    reach = [f"granndis:maxHop={hop}:fanout={fanout}" for hop in (1, 2, 3) for fanout in (15, 20, 25)]
    yield compared("28 layers, hops and copies, 4 x 4", "reddit", (BASELINE, *reach), "granndis-4x4", SPEED["reddit"], layers=28, training={"recompute": "layer"})
    # Batches as large on either side. Makers of batches have processors of their own ("@c16"), so that
    # drawing is hidden.
    for dataset, batch in (("ogbn_arxiv", 22736), ("products", 1475)):
        yield compared("3 layers, batches of a server and of a rank, 4 x 4", dataset,
                       (f"minibatch:fanout=[20,20,20]:batchSize={batch}:threads=8:prefetch=8", "granndis:batches=4", "granndis"),
                       "granndis-4x4@c16", SPEED[dataset])


def p3_cell(name, dataset, model, strategies, *, hidden=32, layers=2, options=P3_OPTIONS, topology="p3-4x4", **more):
    kind = {"kind": model, "hidden": 8 if model == "gat" else hidden} | ({} if model == "sgc" else {"layers": layers})
    return Cell("p3", f"{dataset}, {model}{name}", dataset, kind, (f"{topology}@x{P100}",),
                tuple(f"{each}:{options}" for each in strategies), training={"dropout": 0}, compared=True, **more)


def p3_cells():
    by_hash, by_metis = {"placement": {"partitioner": "hash"}}, {"placement": {"partitioner": "metis"}}
    everybody = ("minibatch", "p3", "p3:delay=3")

    def told(times, options=P3_OPTIONS):
        return {"paper": {f"p3:delay=3:{options}": times}} if times else {}

    for model, times in P3_PAPER["products"].items():
        yield p3_cell("", "products, 100 features", model, ("minibatch:prefetch=1", *everybody), **told(times), **by_hash)
    yield p3_cell(", copies=2", "products, 100 features", "gat", ("minibatch", "p3", "p3:copies=2"), **by_hash)
    for hidden in (64, 80, 96):  # around the crossing
        yield p3_cell(f", {hidden} columns", "products, 100 features", "sage", ("minibatch", "p3"), hidden=hidden, **by_hash)
    yield p3_cell(", 600 features", "products, 600 features", "sage", everybody, **by_hash)
    for model, times in P3_PAPER["papers"].items():
        yield p3_cell("", "papers, 128 features", model, everybody, **told(times), **by_hash)
    for features in (16, 64, 256, 512):  # Figure 10
        yield p3_cell(", 2 layers", f"papers, {features} features", "sage", everybody, **told(4.77 if features == 512 else None), **by_hash)
    for layers, fanout in ((3, "[10,10,10]"), (4, "[5,5,5,5]")):  # Figure 9
        yield p3_cell(f", {layers} layers", "papers, 128 features", "sage", everybody, layers=layers, options=f"batchSize=1000:fanout={fanout}", **by_hash)
    # Table 5: four copies of everything on four servers, 1.70 and 1.64 ×; over a P3 without copies.
    for dataset, times in (("products, 100 features", 1.703), ("papers, 128 features", 1.639)):
        yield p3_cell(", copies", dataset, "sage", ("p3:delay=3", "p3:delay=3:copies=2", "p3:delay=3:copies=4", "p3:delay=3:copies=4:structure=mapped"),
                      paper={f"p3:delay=3:copies=4:structure=mapped:{P3_OPTIONS}": times}, **by_hash)
    # What the pipeline is worth, 30 to 50 % in the paper, depends on how much there is to compute while links
    # are busy.
    for speed in (P100, 4, 2, 1):
        yield replace(p3_cell(f", pipelining, computing {speed} x", "products, 100 features", "sage", ("p3:structure=mapped", "p3:delay=3:structure=mapped"),
                              **by_hash), topologies=(f"p3-4x4@x{speed}",))
    # Eight servers of ours, with a rank each.
    for model in ("gcn", "sage"):
        yield p3_cell(", 8 servers", "products, 100 features", model, everybody, topology="pipegcn-8x1", **by_hash)
    yield p3_cell(", parts by METIS", "products, 100 features", "sage", everybody, **by_metis)
    # Real graphs, whose features are as wide as they are, and whose parts by METIS aren't those of a
    # generated community graph.
    for dataset in ("ogbn_arxiv", "amazon_computers", "musae_facebook", "fb_nyu"):
        yield p3_cell("", dataset, "sage", everybody, **by_hash)
        yield p3_cell(", parts by METIS", dataset, "sage", everybody, **by_metis)


def dgs_cell(name, dataset, workers, batch, recorded, strategies, **more):
    return Cell("dgs", f"{dataset}, {workers} workers{name}", dataset, {"kind": "sage", "layers": 2, "hidden": 16}, (f"dgs-{workers}x1@x{P100}",),
                tuple(f"{each}:batchSize={batch}:{DGS_OPTIONS}" for each in strategies), compared=True, recorded=recorded, **more)


def dgs_samplers_cells():
    """Samplers whose layers have a fixed size (that of LADIES' paper), or that draw whole clusters; each with random columns, too."""
    drawn, hands = f"minibatch:batchSize=205:{DGS_OPTIONS}", "threads=8:prefetch=8"
    for name, samplers, more in ((", layers of a fixed size", [f"{each}:layerSizes=[512,512]:batchSize=205" for each in ("fastgcn", "ladies")], {}),
                                 (", clusters", ["cluster:merged=2"], {"placement": {"partitioner": {"kind": "metis", "parts": 64}}})):
        others = tuple(f"minibatch:sampler={each}{rate}:{hands}" for each in samplers for rate in ("", ":featureRate=0.85"))
        made = dgs_cell(name, "reddit", 4, 205, 4, (), **more)
        yield replace(made, strategies=(drawn, *others, *([] if more else [f"dgs:batchSize=205:{DGS_OPTIONS}"])))


def dgs_cells():
    ablation = ("minibatch", "minibatch:featureRate=0.85", "dgs:featureRate=1", "dgs:vertices=random", "dgs")
    for workers in (4, 8):
        yield dgs_cell("", "ogbn_arxiv", workers, 1024 * workers, 6 if workers == 4 else 12, ablation)
    yield dgs_cell(", parts by hash", "ogbn_arxiv", 4, 4096, 6, ablation, placement={"partitioner": "hash"})
    yield dgs_cell(", how often it explains", "ogbn_arxiv", 4, 4096, 12, ("minibatch", *(f"dgs:explainEvery={every}" for every in (30, 60, 90))))
    # A batch is the share of the graph that it would be of the whole one.
    yield dgs_cell("", "reddit", 4, 205, 4, ablation)
    yield dgs_cell("", "products, 100 features", 4, 205, 4, ablation)
    yield from dgs_samplers_cells()
    yield dgs_cell(", several labels", "yelp", 4, 410, 4, ablation, training={"loss": "binaryCrossEntropy", "metric": "f1Micro"})


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
    for dataset, (milliseconds, gigabytes) in {"squirrel": (113.75, 4.43), "flickr": (124.32, 4.60), "reddit, all of it": (634.01, 14.50)}.items():
        baseline = Cell("gnnpipe", f"{dataset}, the paper's baseline", dataset, {"kind": "gcn", "layers": 8, "hidden": GNNPIPE_HIDDEN.get(dataset, 100)},
                        ("gnnpipe-2x4@x60",), (BASELINE,), paper={"seconds": 1e-3 * milliseconds, "bytes": 1e9 * gigabytes, "exchanges": 31 / 7})
        yield baseline
        if dataset == "reddit, all of it":  # neighbouring parts on two servers: how much of the difference is the generated graph's cut
            yield replace(baseline, name=f"{baseline.name}, parts in turn on two servers", topologies=("gnnpipe-2x4@x60@interleaved",),
                          placement={"partitioner": {"objective": "cut"}})  # METIS takes over ten minutes for eight parts by volume
    yield gnnpipe_cell("flickr", "gcnii", "gnnpipe-4x4", (16, 8), GNNPIPE_PAPER["flickr"]["gcnii"])
    for dataset in ("ogbn_arxiv", "products", "reddit"):
        for layers in (3, 28):
            yield granndis_cell(dataset, layers)
    yield granndis_cell("ogbn_arxiv", 56)
    yield from granndis_comparisons()
    everybody = (BASELINE, PRELOADING, SAMPLING, "pipegcn", "bns", "cagnet", "sancus")
    yield Cell("granndis", "ogbn_arxiv, 3 layers, 2 x 4", "ogbn_arxiv", {"kind": "sage", "layers": 3, "hidden": 64},
               at_speeds("granndis-2x4-10gbe", "granndis-2x4-1gbe"), everybody)
    for servers in (4, 8):
        for name, training in (("", {}), (", without dropout", {"dropout": 0})):
            yield Cell("pipegcn", f"ogbn_arxiv, {servers} servers{name}", "ogbn_arxiv", {"kind": "sage", "layers": 3, "hidden": 128},
                       (f"pipegcn-{servers}x1",), (BASELINE, "graph", "pipegcn:smoothing=none"), (0.5, 0.65, 0.8), training=training)
    yield from p3_cells()
    yield from dgs_cells()
