"""The straight line that lies nearest to measured points (least squares)."""


def fit(points):
    """(at 0, for each) of [(x, y)], at least two of different x."""
    count = len(points)
    mean_x, mean_y = (sum(axis) / count for axis in zip(*points))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return mean_y - slope * mean_x, slope
