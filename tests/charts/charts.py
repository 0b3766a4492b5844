"""What the tests of charts share: the charts with the values that CI renders each with, helm, and what came out of it."""
import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("e2e", "cluster", "machines")]
import harness  # noqa: E402
from harness import expect  # noqa: E402
import build  # noqa: E402
from place import BedError  # noqa: E402

try:
    import yaml
except ImportError:
    harness.skip("PyYAML is not installed (python3-yaml)")

CHARTS = sorted(path.parent for path in (ROOT / "charts").glob("*/Chart.yaml"))
KUBERNETES = "1.37.2"


def program(name):
    """A program of the bed; the test is skipped where it isn't built."""
    try:
        return build.program(name)
    except BedError as missing:
        return harness.skip(str(missing))


def run(name, *words, text=None):
    """Runs a program of the bed to its end."""
    done = subprocess.run([program(name), *map(str, words)], input=text, capture_output=True, text=True, check=False)
    return harness.Done(done.returncode, done.stdout, done.stderr)


def cases():
    """(chart, values file) of all that CI renders."""
    return [(chart, values) for chart in CHARTS for values in sorted((chart / "ci").glob("*-values.yaml"))]


def template(chart, *words, release="test", space="tests"):
    return run("helm", "template", release, chart, "--namespace", space, "--kube-version", KUBERNETES, *words)


@functools.cache
def rendered(chart, *words, **where):
    """The text of a chart that must render; `words`: more of helm's arguments."""
    done = template(chart, *words, **where)
    expect(done.status == 0, f"{chart.name} to render with {' '.join(map(str, words))}:\n{done.err}")
    return done.out


def objects(chart, *words, **where):
    return [each for each in yaml.load_all(rendered(chart, *words, **where), yaml.CSafeLoader) if each]


def of_kind(found, *kinds):
    return [each for each in found if each["kind"] in kinds]


def pod_of(owner):
    """The pod template of a Deployment or a Job."""
    return owner["spec"]["template"]
