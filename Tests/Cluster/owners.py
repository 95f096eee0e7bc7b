#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two nodes and one realm that is written all the time, whose owner is moved back and forth, and is paused until the other one has taken
over and then goes on.

Each write makes an object of its own. In the end every one that was acknowledged has to be there, and none that was refused."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from fleet import SCHEMA, Fleet
from nodes import call, until
from writers import Writer, judge, owner, role, stop

REALM = "fence"


def pause_owner(fleet, seconds):
    """Stops the owner until the other node has the realm and for some time more, and lets it go on."""
    old = owner(fleet.nodes, REALM)
    new = next(node for node in fleet.nodes if node is not old)
    old.pause()
    try:
        until(lambda: role(new, REALM) == "owner", "the other node has the realm", 30)
        time.sleep(seconds)
    finally:
        old.resume()


def play(fleet, options):
    until(lambda: any(call(node, "POST", "/v1/realms", {"name": REALM, "schema": SCHEMA})[0] == 201 for node in fleet.nodes),
          "the realm is made")
    chance, writers, moves, pauses = random.Random(options.seed), [Writer(fleet.nodes, REALM, number) for number in range(4)], 0, 0
    for writer in writers:
        writer.start()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.1, 1))
        if chance.random() < 0.8:
            old = owner(fleet.nodes, REALM)
            fleet.tell("move", f"realm:{REALM}", next(node.name for node in fleet.nodes if node is not old))
            moves += 1
        else:
            pause_owner(fleet, chance.uniform(0, 1))
            pauses += 1
    time.sleep(1)
    stop(writers)
    is_right, text = judge(fleet, REALM, writers)
    print(f"seed {options.seed}: {moves} moves, {pauses} pauses of the owner; {text}", flush=True)
    return is_right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="owners-"))
    folder.chmod(0o755)
    fleet, is_right = None, False
    try:
        fleet = Fleet(str(Path(options.server).resolve()), folder, 2, count=2)
        is_right = play(fleet, options)
    finally:
        if fleet is not None:
            fleet.end()
        if is_right:
            shutil.rmtree(folder, ignore_errors=True)
    return not is_right


if __name__ == "__main__":
    sys.exit(main())
