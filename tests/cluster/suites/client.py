"""The operator's HTTP with the bed's API server: lists in pages, watches that are resumed or expired, whom it trusts and as whom it
comes. The cases are those of tests/unit/operator_kube/real_server_test.cc."""
import re

import stage
from control_plane import KUBECONFIG, inside
from place import BedError
from process import run

CASES = stage.ATOLL.parent / "tests/test_operator_kube"


def the_conformance_suite_holds_with_a_real_server():
    if not CASES.exists():
        raise BedError(f"{CASES} isn't built: cmake -DATOLL_TESTS=ON …; ninja test_operator_kube")
    command, environment = inside(["env", f"ATOLL_KUBECONFIG={KUBECONFIG}", CASES, "--gtest_filter=*RealServer*"])
    told = run(command, 180, env=environment)
    passed = re.search(r"PASSED  \] (\d+) tests", told)
    assert passed and int(passed[1]) >= 7, told


SHORT = []
LONG = [the_conformance_suite_holds_with_a_real_server]
