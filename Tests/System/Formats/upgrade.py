#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends `realm-rest upgrade FILE` at random moments: the old file or the new one is there each time, whole, and the next attempt works.

    python3 Tests/System/Formats/upgrade.py --server PROGRAM [--file OLD.realm] [--rounds 100] [--seed 1]
"""

import argparse
import gzip
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = str(ROOT / "Tests" / "RealmLegacyTests" / "Golden" / "v9-blob.realm.gz")


class Trial:
    def __init__(self, program, source, folder):
        self.program, self.folder, self.path = program, folder, os.path.join(folder, "app.realm")
        self.old = gzip.open(source).read() if source.endswith(".gz") else read(source)
        self.reset()
        begin = time.monotonic()
        self.run("upgrade").check_returncode()
        self.duration = time.monotonic() - begin
        self.contents = self.run("dump").stdout

    def run(self, command):
        return subprocess.run([self.program, command, self.path], capture_output=True)

    def reset(self):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        with open(self.path, "wb") as file:
            file.write(self.old)

    def round(self, pause):
        """Ends an upgrade after a pause in seconds, and returns whether the new file was there."""
        self.reset()
        upgrade = subprocess.Popen([self.program, "upgrade", self.path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(pause)
        upgrade.kill()
        upgrade.wait()
        is_new = read(self.path) != self.old
        if is_new:
            self.require_new()
            copies = [name for name in os.listdir(self.folder) if name.endswith(".backup")]
            assert any(read(os.path.join(self.folder, name)) == self.old for name in copies), "no copy of the old file"
        again = self.run("upgrade")
        assert again.returncode == 0, again
        self.require_new()
        assert not [name for name in os.listdir(self.folder) if name.endswith(".part")], "a leftover"
        return is_new

    def require_new(self):
        verified = self.run("verify")
        assert verified.returncode == 0, verified
        assert self.run("dump").stdout == self.contents, "other contents"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--file", default=GOLDEN)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="realm-rest-upgrade-") as folder:
        trial = Trial(options.server, options.file, folder)
        count = sum(trial.round(moments.random() * trial.duration * 1.1) for _ in range(options.rounds))
    print(f"seed {options.seed}: {options.rounds} upgrades of {trial.duration:.2f} s ended, {options.rounds - count} times the old file, {count} times the new")


if __name__ == "__main__":
    main()
