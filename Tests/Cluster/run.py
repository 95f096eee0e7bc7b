#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs trials of clusters under bad luck, as `make test-cluster` does.

    python3 Tests/Cluster/run.py fence --server .build/debug/realm-rest --claims 1000

A NAME is a trial. Options that are not listed here go to its program. The short form has a few histories and claims, and shows that
the checker would have noticed what is wrong.
"""
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "System"))
from suites import DEBIAN, ROOT, Program, main  # noqa: E402

# A program that is not ours reads files of nodes where it is there.
INSPECTOR = ROOT.parent / "shared" / "tools" / "realm_inspect.py"
INSPECT = ["--inspector", INSPECTOR] if INSPECTOR.exists() else []

SUITES = {
    "proxies": [Program("proxies.py", is_long=True)],
    "handover": [Program("handover.py")],
    "fence": [
        Program("fence.py", ["--claims", 200], ["--claims", 10_000], python=DEBIAN),
        Program("fence.py", ["--log", "nats", "--claims", 100, "--expect-double-winners"], ["--log", "nats", "--claims", 1000, "--expect-double-winners"],
                python=DEBIAN),
        Program("fence.py", ["--log", "nats", "--claims", 100, "--replicas", 1], ["--log", "nats", "--claims", 1000, "--replicas", 1], python=DEBIAN, is_long=True),
    ],
    "owners": [Program("owners.py", ["--seconds", 10], ["--seconds", 300])],
    "powercut": [Program("powercut.py", ["--rounds", 1], ["--rounds", 20])],
    "copies": [
        Program("copies.py", ["--writes", 200, *INSPECT], ["--seed", 1, "--writes", 2000, *INSPECT]),
        *(Program("copies.py", ["--seed", seed, "--writes", 200, *INSPECT], ["--seed", seed, "--writes", 2000, *INSPECT], is_long=True) for seed in range(2, 6)),
    ],
    "scale": [Program("scale.py", is_long=True)],
    "streams": [Program("streams.py", ["--streams", 2000], ["--streams", 45_000], is_long=True)],
    "linear": [
        Program("linear.py", ["--runs", 3, "--seconds", 10], ["--runs", 50]),
        Program("linear.py", ["--runs", 10, "--seconds", 10, "--plain-reads"], ["--runs", 10, "--seconds", 10, "--plain-reads"]),
    ],
    "cost": [Program("cost.py", is_long=True)],
}
USUAL = [name for name in SUITES if name != "cost"]

if __name__ == "__main__":
    sys.exit(main(FOLDER, SUITES, USUAL, __doc__))
