# SPDX-License-Identifier: Apache-2.0
"""Runs suites by their names: each is a few programs, with what they are given in the short form and in the long one."""
import argparse
import itertools
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness import RELEASE, ROOT

# Python with what `make setup-test` and others install from PyPI.
VENV = ROOT / ".venv-test" / "bin" / "python3"
# Python with the packages of Debian.
DEBIAN = Path("/usr/bin/python3")


@dataclass
class Program:
    """A program of a suite, with its arguments in the short form and in the long one. Without what it needs it is left out."""

    path: str
    short: list = field(default_factory=list)
    long: list = field(default_factory=list)
    # Only a part of the long form.
    is_long: bool = False
    python: Path = Path(sys.executable)
    # Programs, and modules of its Python.
    needs: list = field(default_factory=list)
    modules: list = field(default_factory=list)

    @property
    def name(self):
        path = Path(self.path)
        return path.stem if path.stem != "run" else path.parent.name.lower()

    def missing(self, python):
        """What it needs and is not installed."""
        lacks = lambda module: subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode
        return [name for name in self.needs if not shutil.which(name)] + [module for module in self.modules if lacks(module)]

    def run(self, folder, server, is_long, more):
        """Runs it; returns whether it has passed."""
        python = self.python if self.python.exists() else Path(sys.executable)
        arguments = self.long if is_long else self.short
        print(f"--- {self.path} {' '.join(map(str, arguments + more))}".rstrip(), flush=True)
        if missing := self.missing(python):
            print(f"left out: {', '.join(missing)} is not installed", flush=True)
            return True
        begin = time.monotonic()
        status = subprocess.run(
            [python, folder / self.path, "--server", server, *map(str, arguments), *more], cwd=ROOT).returncode
        print(f"--- {self.path}: {'passed' if status == 0 else f'FAILED ({status})'} in {time.monotonic() - begin:.0f} s", flush=True)
        return status == 0


def main(folder, suites, usual, description):
    """Runs the suites that the command line names first, or the usual ones; options that are not of this runner go to the programs."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), sys.argv[1:]))
    parser = argparse.ArgumentParser(
        usage="%(prog)s [NAME…] [--server PROGRAM] [--long] [OPTIONS of the programs]", description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--server", default=RELEASE, help="the program that serves; a release build without it")
    parser.add_argument("--long", action="store_true", help="the long form")
    parser.add_argument("--list", action="store_true", help="names all programs and runs none")
    options, more = parser.parse_known_args(sys.argv[1 + len(names):])
    if options.list:
        for suite, programs in suites.items():
            print(f"{suite:10} {', '.join(dict.fromkeys(one.name for one in programs))}{'' if suite in usual else '  (only by name)'}")
        return 0
    chosen = []
    for name in names or usual:
        suite, _, program = name.partition("/")
        found = [one for one in suites.get(suite, []) if program in ("", one.name)]
        if not found:
            parser.error(f"there is no suite or program {name!r}; --list names them")
        # What is only a part of the long form is run in the short one when it is named.
        brief = [one for one in found if not one.is_long]
        chosen += found if options.long or name in names and not brief else brief
    server = Path(options.server).resolve()
    if not os.access(server, os.X_OK):
        parser.error(f"{server} is no program; --server names one, and `make release` builds it")
    failed = [one.path for one in chosen if not one.run(folder, server, options.long, more)]
    print(f"{len(chosen) - len(failed)} of {len(chosen)} programs passed" + "".join(f"\nFAILED {one}" for one in failed))
    return 1 if failed else 0
