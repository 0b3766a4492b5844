"""Differences of pairs, in percent: their mean and its 95 % interval (Student's t)."""
import math
import statistics

# Two-sided 95 % points by degrees of freedom; beyond them those of 9, 19 or 29, which are a little wider.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 19: 2.093, 29: 2.045}


def t95(degrees):
    return T95[max(known for known in T95 if known <= degrees)]


def interval(pairs):
    """(mean, half width) of first − second."""
    differences = [first - second for first, second in pairs]
    half = t95(len(pairs) - 1) * statistics.stdev(differences) / math.sqrt(len(pairs))
    return statistics.mean(differences), half


def judged(pairs, points):
    """Whether the first side loses at most so many points, by the mean, and whether the interval allows another answer."""
    if len(pairs) == 1:
        return "one pair"
    mean, half = interval(pairs)
    met = mean >= -points
    farther = mean - half < -points if met else mean + half >= -points
    return f"{'met' if met else 'missed'}{', open' if farther else ''}"


def mean_and_deviation(values):
    """One value has no deviation."""
    return f"{statistics.mean(values):.2f}{deviation_of(values)}"


def difference_and_deviation(differences):
    """Of pairs."""
    return f"{statistics.mean(differences):+.2f}{deviation_of(differences) or ', one pair'}"


def deviation_of(values):
    if len(values) == 1:
        return ""
    deviation = statistics.stdev(values)
    return f" ± {deviation:.2f}" if deviation >= 0.005 else " ± under 0.01"
