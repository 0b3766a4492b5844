"""Atoll's manifest of a set-up of cases.json or accuracy_cases.json: the same numbers in Atoll's names."""
NO_EVALUATION = 1_000_000_000


def manifest(name, setup, seed=1, column=0):
    """A dict that is a manifest once written as JSON, which YAML contains."""
    return {"apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob", "metadata": {"name": name.replace("_", "-")},
            "spec": {"dataset": dataset(setup, column), "model": model(setup), "training": training(setup, seed),
                     "strategy": strategy(setup), "placement": {"ranks": 1}, "output": {"path": name}}}


def strategy(setup):
    if "batchSize" not in setup:
        return {"kind": "graph"}
    return {"kind": "minibatch", "minibatch": {"fanout": setup["fanout"], "batchSize": setup["batchSize"]}}


def dataset(setup, column):
    """Arcs were symmetrised when the data set was imported; self arcs are as the model's definition says."""
    return {"name": setup["dataset"], "splitColumn": column, "normaliseFeatures": setup.get("normaliseFeatures", "none")}


def model(setup):
    spec = {"kind": setup["kind"], "layers": setup["layers"], "hidden": setup["hidden"], "norm": setup["norm"]}
    if setup["kind"] == "sign":
        del spec["layers"]
        spec["options"] = {"hops": setup["hops"]}
    if setup["kind"] == "sage":
        spec["options"] = {"aggregator": "mean"}
    if setup["kind"] == "gat":
        spec["options"] = {"heads": setup["heads"], "outputHeads": setup["outputHeads"],
                           "negativeSlope": setup["leakyReluSlope"]}
    return spec


def training(setup, seed):
    spec = {"epochs": setup["epochs"], "seed": seed, "precision": "float32", "metric": setup.get("metric", "accuracy"),
            "dropout": setup["dropout"], "inputDropout": {"rate": setup["inputDropout"]},
            "optimizer": {"kind": setup["optimizer"], "learningRate": setup["learningRate"],
                          "weightDecay": setup["weightDecay"]},
            "evaluateEvery": setup.get("evaluateEvery", NO_EVALUATION), "checkpoint": {"every": 0}}
    if setup["kind"] == "sign":
        spec["inputDropout"]["position"] = "afterAggregation"
    if setup["kind"] == "gat":
        spec["attentionDropout"] = setup["attentionDropout"]
    return spec
