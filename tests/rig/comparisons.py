"""What is compared on the rig: data sets, shapes of the model, servers, shares of communication, strategies. A cell is one
`atoll bench strategies`."""
from dataclasses import dataclass

# GraphSAGE as in PipeGCN's Table 3, of this machine's size. Sets that are generated have the shape of the
# named one. Small sets are 256 wide: at 128 more than a tenth of an epoch is the network's work, which here
# falls to the cores that compute.
DATA = {
    "ogbn_arxiv": {"layers": 3, "hidden": 128, "epochs": 6},
    "fb_nyu": {"layers": 3, "hidden": 256},
    "tolokers": {"layers": 4, "hidden": 256, "metric": "rocAuc"},
    "amazon_computers": {"layers": 3, "hidden": 256},
    "reddit": {"layers": 4, "hidden": 256, "scale": 0.05},
    "products": {"layers": 3, "hidden": 128, "scale": 0.02},
    "yelp": {"layers": 4, "hidden": 256, "scale": 0.05, "metric": "f1Micro", "loss": "binaryCrossEntropy", "epochs": 5},
}
SHARES = (0.5, 0.65, 0.8)
BASELINE = "graph:overlap=false:haloRows=inputs"
PLAIN = "pipegcn:smoothing=none"  # as the paper's figures and goals are meant
ON_TWO = (BASELINE, "graph", PLAIN)
ON_FOUR = (*ON_TWO, "cagnet:replication=2")
# Without sancus' epochs of warm-up, in which it is cagnet.
EVERYBODY = (*ON_FOUR, "pipegcn", "bns", "cagnet", "sancus:warmup=0", "sancus:rule=bounded")
NARROW = (BASELINE, PLAIN, PLAIN + ":wire=bfloat16")
SMOOTHED = (PLAIN, "pipegcn")
EPOCHS = 12  # fewer of the largest: a cell ends within ten minutes


@dataclass(frozen=True)
class Comparison:
    dataset: str
    servers: int
    share: float
    strategies: tuple

    @property
    def name(self):
        what = {EVERYBODY: ", everybody", NARROW: ", half the bytes", SMOOTHED: ", smoothed"}.get(self.strategies, "")
        return f"{self.dataset}, {self.servers} servers, {100 * self.share:.0f} %{what}"

    @property
    def rounds(self):
        """Fewer where links are slowest: there an epoch is long, and much like any other."""
        return 2 if (self.servers, self.share) == (4, SHARES[-1]) else 3

    @property
    def picture(self):
        """The file of its bars, beside the table; None: it has none."""
        return f"pipegcn-{self.dataset}.svg" if self.strategies == EVERYBODY else None


def comparisons():
    """Each data set on two and four servers at every share; everybody, and half the bytes, for one set; then what smoothing takes
    where nothing hides it."""
    for servers, strategies in ((2, ON_TWO), (4, ON_FOUR)):
        for dataset in DATA:
            for share in SHARES:
                yield Comparison(dataset, servers, share, strategies)
    yield Comparison("reddit", 4, SHARES[1], EVERYBODY)
    for share in SHARES:
        yield Comparison("ogbn_arxiv", 2, share, NARROW)
    for dataset in DATA:
        yield Comparison(dataset, 2, SHARES[0], SMOOTHED)


def manifest(comparison):
    """A dict that is a manifest once written as JSON, which YAML contains."""
    data = DATA[comparison.dataset]
    source = {"name": comparison.dataset}
    if "scale" in data:
        source = {"synthetic": {"kind": "community", "preset": comparison.dataset, "scale": data["scale"]}}
    epochs = data.get("epochs", EPOCHS)
    training = {"epochs": epochs, "evaluateEvery": epochs, "checkpoint": {"every": 0}, "dropout": 0.5,
                "optimizer": {"kind": "adam", "learningRate": 0.01}, "metric": data.get("metric", "accuracy")}
    if "loss" in data:
        training["loss"] = data["loss"]
    return {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": comparison.dataset.replace("_", "-")},
            "spec": {"dataset": source,
                     "model": {"kind": "sage", "layers": data["layers"], "hidden": data["hidden"], "norm": "layer",
                               "options": {"aggregator": "meanWithSelf"}},
                     "training": training, "strategy": {"kind": "graph"},
                     "placement": {"ranks": comparison.servers}, "output": {"path": "comparison"}}}
