"""Quantiles of histograms as Prometheus tells them."""
import re

LINE = re.compile(r'^(\w+)_bucket{(?:.*,)?le="([^"]+)"} (\S+)$', re.M)


def read(text):
    """{name: [(upper bound, how many are at most that)]}; of families without labels of their own."""
    found = {}
    for name, bound, count in LINE.findall(text):
        found.setdefault(name, []).append((float(bound.replace("+Inf", "inf")), float(count)))
    return {name: sorted(buckets) for name, buckets in found.items()}


def quantile(buckets, share):
    """As histogram_quantile: values lie evenly between two bounds."""
    wanted, below, before = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= wanted and count > before:
            return below if bound == float("inf") else below + (bound - below) * (wanted - before) / (count - before)
        below, before = bound, count
    return None
