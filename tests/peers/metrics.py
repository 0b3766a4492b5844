"""The metrics of the accuracy table, from logits (rows, classes) and labels (rows,); fractions 0–1."""
from scipy.stats import rankdata


def accuracy(logits, labels):
    return float((logits.argmax(1) == labels).mean())


def roc_auc(logits, labels):
    """The chance that a random positive scores above a random negative, ties counting half."""
    ranks = rankdata(logits[:, 1] - logits[:, 0])
    positive = labels == 1
    many, few = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - many * (many + 1) / 2) / (many * few))


METRICS = {"accuracy": accuracy, "rocAuc": roc_auc}
