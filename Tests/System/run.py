#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that use a built server from outside, as `make test-system` does.

    python3 Tests/System/run.py console --server .build/debug/realm-rest --again --only rows

A NAME is a suite, or one program of it such as `formats/imports`. Options that are not listed here go to the programs.
"""
import sys
from pathlib import Path

from suites import DEBIAN, VENV, Program, main

SUITES = {
    "browser": [Program("Browser/trial.py", ["--quick"], needs=["chromium"])],
    "clients": [Program("Clients/run.py", python=VENV, needs=["java"], modules=["openapi_generator_cli", "vacuum", "openapi_spec_validator"])],
    "console": [Program("Console/run.py", ["--quick"], python=VENV, needs=["chromium"], modules=["playwright", "axe_playwright_python"])],
    "docs": [Program("Docs/run.py"), Program("Docs/coverage.py")],
    "formats": [
        Program("Formats/dumps.py", python=DEBIAN), Program("Formats/imports.py", python=DEBIAN), Program("Formats/names.py", python=DEBIAN),
        Program("Formats/legacy.py", python=DEBIAN), Program("Formats/upgrade.py"),
    ],
    "leaks": [
        Program("Leaks/fuzz.py", ["--seeds", "1-6", "--reads", 120, "--writes", 40], ["--seeds", "1-50", "--reads", 4000, "--writes", 200]),
        Program(
            "Leaks/changing.py", ["--seeds", "1-2", "--reads", 1600, "--writes", 400],
            ["--seeds", "1-20", "--reads", 200_000, "--writes", 50_000]),
    ],
    "live": [
        Program("LiveClients/javascript/run.py", ["--quick"], python=VENV, needs=["node"]),
        Program("LiveClients/python/run.py", ["--quick"]),
        Program("LiveClients/swift/run.py", ["--quick"], needs=["swift"]),
    ],
    "mistakes": [Program("Trials/mistakes.py")],
    "trials": [
        Program("Trials/crowd.py"),
        Program("Trials/worst.py", ["--objects", 100_000, "--read-seconds", 3, "--write-seconds", 3]),
        Program("Trials/memory.py", ["--objects", 20_000]),
        Program("Trials/requests.py", ["--count", 60_000]),
        Program("Trials/soak.py", ["--minutes", 20]),
    ],
}
USUAL = [name for name in SUITES if name != "trials"]

if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent, SUITES, USUAL, __doc__))
