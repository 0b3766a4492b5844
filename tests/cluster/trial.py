"""What the bed's own tests share: its command run and timed as a person would, and the check that nothing is left."""
import subprocess
import time

import traces
from place import HERE
from process import until

BED = HERE / "bed"


def bed(*words, **environment):
    """What came of a command of the bed."""
    command = ["env", *(f"{name}={value}" for name, value in environment.items()), BED, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def timed(*words):
    """Runs a command that has to succeed; how long it took."""
    began = time.monotonic()
    done = bed(*words)
    took = time.monotonic() - began
    assert done.returncode == 0, f"bed {' '.join(words)}: {done.stderr}"
    print(f"ok    bed {' '.join(words)}: {took:.1f} s", flush=True)
    return took


def check(what, action, *arguments):
    began = time.monotonic()
    action(*arguments)
    print(f"ok    {what}: {time.monotonic() - began:.1f} s", flush=True)


def nothing_is_left(before, processes, networks):
    """`before` is traces.of_machine(), the rest what traces.of_bed() saw while there was a bed."""
    left = {name: value for name, value in traces.of_machine().items() if value != before[name]}
    assert not left, f"before {before}, now {left}"
    until("processes of the bed to be gone", 10, lambda: not traces.alive(processes, networks))
