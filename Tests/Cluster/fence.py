#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a log lets one owner win: claims against an owner that appends, claims against claims, and two owners forced by hand, with
pruning between.

What a log has taken is a chain of heads. A head with two next ones is a double winner: two owners were told that what they did comes after
the same head. With PostgreSQL there may be none, and all that was taken is in one chain up to the head that the log has in the end.

    fence.py --log postgres --server PATH --claims 10000
    fence.py --log nats --claims 300 --expect-double-winners

NATS 2.9 looks at what is expected before it replicates a message and not when it stores it, so there have to be double winners: a suite
that finds none would find none anywhere. With one replica (--replicas 1) it stores what it looks at, and has to pass.
"""

import argparse
import collections
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from fleet import start_log
from logs import NatsRealms, PostgresRealms
from nats import Nats

REALMS = 5
OWNERS = 4


class Book:
    """What a log has taken."""

    def __init__(self):
        # Of each head of a realm what has come after it: who did it, and the next head.
        self.next, self.lock, self.counts = collections.defaultdict(list), threading.Lock(), collections.Counter()
        self.first = {}

    def note(self, realm, before, after, what):
        with self.lock:
            self.next[realm, before].append((what, after))
            self.counts[what] += 1

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def double_winners(self):
        return [(realm, head, taken) for (realm, head), taken in self.next.items() if len(taken) > 1]

    def strays(self, realm, last):
        """How many claims and appends are not in the chain that leads to the last head."""
        head, length = self.first[realm], 0
        while (realm, head) in self.next:
            head = self.next[realm, head][0][1]
            length += 1
        taken = sum(len(one) for (name, _), one in self.next.items() if name == realm)
        return taken - length + (head != last)


class Owner:
    """One owner, with a connection of its own."""

    def __init__(self, realms, book):
        self.realms, self.book = realms, book

    def claim(self, realm):
        taken = self.realms.claim(realm)
        if taken is None:
            self.book.count("claims refused")
            return False
        self.book.note(realm, *taken, "claims")
        return True

    def append(self, realm):
        """Appends one record; false when another owner has been told that the realm is its own."""
        before = self.realms.head(realm)
        outcome = self.realms.append(realm)
        if outcome == "stored":
            self.book.note(realm, before, self.realms.head(realm), "appends")
        else:
            self.book.count(outcome)
        return outcome == "stored"


class Suite:
    """The rounds, each on one realm."""

    def __init__(self, connect, seed, claims):
        self.random, self.book, self.claims = random.Random(seed), Book(), claims
        self.owners = [Owner(connect(number), self.book) for number in range(OWNERS)]
        self.cleaner = connect(OWNERS)
        # Who has claimed each realm last.
        self.last = {}
        for realm in (f"r{number}" for number in range(REALMS)):
            self.cleaner.create(realm)
            self.book.first[realm] = self.cleaner.look(realm)
            self.last[realm] = self.random.choice(self.owners)
            assert self.last[realm].claim(realm)

    def run(self):
        kinds = [self.live] * 6 + [self.race] * 2 + [self.forced] * 2
        while self.book.counts["claims"] < self.claims:
            self.random.choice(kinds)(self.random.choice(list(self.last)))

    def live(self, realm):
        """A claim against an owner that appends all the time, which is pruned now and then; the owner goes on until it is refused."""
        old, new = self.last[realm], self.random.choice([one for one in self.owners if one is not self.last[realm]])
        is_taken, begin = threading.Event(), time.monotonic()

        def append():
            late = 0
            while old.append(realm) and late < 20:
                late += is_taken.is_set()
            self.book.count("owners that were stopped" if late < 20 else "owners that were NOT stopped")
        thread = threading.Thread(target=append)
        thread.start()
        time.sleep(self.random.random() * 0.01)
        if self.random.random() < 0.3:
            self.cleaner.prune(realm)
        while not new.claim(realm) and time.monotonic() < begin + 10:
            pass
        if self.random.random() < 0.3:
            self.cleaner.prune(realm)
        is_taken.set()
        for _ in range(self.random.randrange(3)):
            new.append(realm)
        if self.random.random() < 0.2:
            self.cleaner.prune(realm)
        thread.join()
        self.last[realm] = new
        self.settle(realm)

    def race(self, realm):
        """Claims against claims."""
        some = self.random.sample(self.owners, self.random.randrange(2, OWNERS + 1))
        won = self.together([lambda one=one: one.claim(realm) for one in some])
        self.last[realm] = next((one for one, has_won in zip(some, won) if has_won), some[0])
        self.settle(realm)

    def forced(self, realm):
        """Two owners that believe the same, and append at the same time, or one after the other with pruning between."""
        one = self.last[realm]
        other = self.random.choice([owner for owner in self.owners if owner is not one])
        other.realms.force(realm, one.realms)
        if self.random.random() < 0.5:
            self.together([lambda: one.append(realm), lambda: other.append(realm)])
        else:
            one.append(realm)
            self.cleaner.prune(realm)
            other.append(realm)
        self.settle(realm)

    def settle(self, realm):
        """Makes the owner of a realm one that may append: after a lost race or a double winner that is another."""
        while not self.last[realm].append(realm):
            self.last[realm].claim(realm)

    def together(self, actions):
        """Does things at the same time, and returns what came of each."""
        barrier, results = threading.Barrier(len(actions)), [None] * len(actions)

        def act(number):
            barrier.wait()
            results[number] = actions[number]()
        threads = [threading.Thread(target=act, args=(number,)) for number in range(len(actions))]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        return results

    def judge(self, expects_double_winners):
        doubles = self.book.double_winners()
        print(", ".join(f"{count} {what}" for what, count in sorted(self.book.counts.items())))
        kinds = collections.Counter(" and ".join(sorted(what for what, _ in taken)) for _, _, taken in doubles)
        print(f"{len(doubles)} double winners" + "".join(f"; {count} of {kind}" for kind, count in sorted(kinds.items())))
        if expects_double_winners:
            return len(doubles) > 0
        strays = sum(self.book.strays(realm, self.cleaner.look(realm)) for realm in self.last)
        print(f"{strays} claims and appends are not in the log's chain")
        return not doubles and strays == 0 and self.book.counts["unknown"] == 0

    def close(self):
        for one in self.owners:
            one.realms.close()
        self.cleaner.close()


def with_postgres(options, folder):
    """Three servers, of which two have to have each commit."""
    primary, *standbys = start_log(folder, 2)
    try:
        subprocess.run([options.server, "cluster", "init", "--cluster", primary.address], check=True, stdout=subprocess.DEVNULL)
        return play(options, lambda number: PostgresRealms(primary.address, f"n{number}"))
    finally:
        for one in [primary, *standbys]:
            one.remove()


def with_nats(options, folder):
    """Three servers with a stream that is replicated; the owners are at different ones."""
    print(Nats.version())
    nats = Nats(folder)
    try:
        nats.make_stream("log", options.replicas)
        return play(options, lambda number: NatsRealms(nats.ports[number % 3], f"n{number}"))
    finally:
        nats.end()


def play(options, connect):
    suite = Suite(connect, options.seed, options.claims)
    try:
        begin = time.monotonic()
        suite.run()
        print(f"seed {options.seed}, {time.monotonic() - begin:.0f} s: ", end="")
        return suite.judge(options.expect_double_winners)
    finally:
        suite.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", choices=["postgres", "nats"], default="postgres")
    parser.add_argument("--server", help="the program, for its tables in PostgreSQL")
    parser.add_argument("--replicas", type=int, default=3, help="of the stream in NATS")
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--expect-double-winners", action="store_true", help="fail when there are none")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="fence-"))
    folder.chmod(0o755)
    try:
        is_right = {"postgres": with_postgres, "nats": with_nats}[options.log](options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("as expected" if is_right else "NOT as expected")
    return not is_right


if __name__ == "__main__":
    sys.exit(main())
