# SPDX-License-Identifier: Apache-2.0
"""What does bad things to a fleet: to its nodes, to its log, and to what is between."""

import random
import signal
import subprocess
import threading
import time


class Nemesis(threading.Thread):
    """Does one thing after the other, and heals it, until it is stopped."""

    def __init__(self, fleet, seed, realms):
        super().__init__(daemon=True)
        self.fleet, self.random, self.realms, self.stopped, self.done = fleet, random.Random(seed), realms, False, []
        self.kinds = self.choices()

    def choices(self):
        """The names of what it does."""
        raise NotImplementedError

    def run(self):
        while not self.stopped:
            time.sleep(self.random.uniform(0.2, 1.5))
            kind, node, seconds = self.random.choice(self.kinds), self.random.choice(self.fleet.nodes), self.random.uniform(0.3, 7)
            self.done.append(kind)
            try:
                getattr(self, kind)(node, seconds)
            except (OSError, subprocess.CalledProcessError) as error:
                self.done.append(f"({error})")


class NodeNemesis(Nemesis):
    """Is bad to nodes: their processes, their links to the log, and, when they have machines, their clocks, disks and networks."""

    def choices(self):
        kinds = ["kill", "end", "pause", "move", "move", "move"]
        if self.fleet.machines:
            return kinds + ["jump", "fill", "apart", "deaf", "mute", "unheard"]
        return kinds + ["hold", "link_deaf", "link_mute", "refuse"]

    def kill(self, node, seconds, how=signal.SIGKILL):
        node.kill(how)
        time.sleep(seconds)
        node.start(60)

    def end(self, node, seconds):
        self.kill(node, seconds, signal.SIGTERM)

    def pause(self, node, seconds):
        node.pause()
        time.sleep(seconds)
        node.resume()

    def move(self, node, seconds):
        del seconds
        self.fleet.tell("move", f"realm:{self.random.choice(self.realms)}", node.name)

    def jump(self, node, seconds):
        """Moves the wall clock by up to an hour, and later back, or further."""
        node.machine.set_clock(self.random.choice([-3600, 3600, self.random.randrange(-3600, 3600)]))
        time.sleep(seconds / 2)
        node.machine.set_clock(self.random.choice([0, 0, 3600, -3600]))

    def fill(self, node, seconds):
        """Leaves no room on the disk, or little; sometimes the process is killed meanwhile, and starts when there is room again."""
        node.machine.fill_disk(self.random.choice([0, 0, 4096, self.random.randrange(1 << 20)]))
        time.sleep(seconds)
        is_killed = self.random.random() < 0.3
        if is_killed:
            node.kill()
        node.machine.free_disk()
        if is_killed:
            node.start(60)

    def cut(self, pairs, seconds):
        """Drops what the second of each pair sends to the first."""
        for one, other in pairs:
            one.ignore(other)
        time.sleep(seconds)
        for one, _ in pairs:
            one.listen()

    def logs(self):
        """The machines of all servers of the log, or of one of them."""
        machines = [one.machine for one in self.fleet.servers]
        return machines if self.random.random() < 0.7 else [self.random.choice(machines)]

    def apart(self, node, seconds):
        self.cut([pair for log in self.logs() for pair in ((node.machine, log), (log, node.machine))], seconds)

    def deaf(self, node, seconds):
        """The node does not hear the log, which hears it."""
        self.cut([(node.machine, log) for log in self.logs()], seconds)

    def mute(self, node, seconds):
        """The log does not hear the node, which hears it."""
        self.cut([(log, node.machine) for log in self.logs()], seconds)

    def unheard(self, node, seconds):
        """Clients do not hear the node, which hears them."""
        self.cut([(self.fleet.machines.own, node.machine)], seconds)

    def link(self, node, mode, seconds):
        node.link.mode = mode
        time.sleep(seconds)
        node.link.mode = "pass"

    def hold(self, node, seconds):
        self.link(node, "hold", seconds)

    def link_deaf(self, node, seconds):
        self.link(node, "deaf", seconds)

    def link_mute(self, node, seconds):
        self.link(node, "mute", seconds)

    def refuse(self, node, seconds):
        self.link(node, "refuse", seconds)


class LogNemesis(Nemesis):
    """Is bad to the log: its primary, its standbys, and, when they have machines, their clocks and networks."""

    def choices(self):
        kinds = ["nothing", "nothing", "nothing", "crash"]
        if self.fleet.standbys:
            kinds.append("fail_over")
            if self.fleet.machines:
                kinds += ["split", "lag", "jump"]
        return kinds

    def nothing(self, _, seconds):
        time.sleep(seconds)

    def crash(self, _, seconds):
        self.fleet.primary.kill()
        time.sleep(seconds / 4)
        self.fleet.primary.start()

    def fail_over(self, *_):
        self.fleet.fail_over()

    def split(self, _, seconds):
        """A failover in which the old primary lives on for a while, and does not know."""
        self.fleet.fail_over(keeps_old=seconds / 2)

    def lag(self, _, seconds):
        """The primary and one of its standbys, or both, do not hear each other."""
        primary, some = self.fleet.primary.machine, self.fleet.standbys[:self.random.randrange(1, 3)]
        for one in some:
            one.machine.ignore(primary)
        time.sleep(seconds / 2)
        for one in some:
            one.machine.listen()

    def jump(self, _, seconds):
        """Moves the wall clock of the primary, and back."""
        machine = self.fleet.primary.machine
        machine.set_clock(self.random.choice([-3600, 3600]))
        time.sleep(seconds / 2)
        machine.set_clock(0)
