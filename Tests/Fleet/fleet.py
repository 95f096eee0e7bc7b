# SPDX-License-Identifier: Apache-2.0
"""A cluster for tests: nodes, and the servers of PostgreSQL that keep its log."""

import subprocess
import time

from nodes import Node, until
from postgres import Postgres

SCHEMA = {"classes": [{"name": "Item", "primaryKey": "_id", "properties": [
    {"name": "_id", "type": "string"}, {"name": "value", "type": "string"},
    {"name": "list", "type": "string", "collection": "list"}]}]}
# Refusals after which a write must not have happened.
REFUSED = {"not_owner", "log_unavailable", "not_ready", "realm_unavailable", "shutting_down", "overloaded", "realm_not_found",
           "write_lock_busy"}


def start_log(folder, standbys):
    """Starts a server of PostgreSQL and standbys, of which one has to have each commit."""
    settings = ["synchronous_standby_names=ANY 1 (s2, s3)"] if standbys else []
    servers = [Postgres(folder, "s1", settings=settings).start()]
    for number in range(2, 2 + standbys):
        servers.append(Postgres(folder, f"s{number}", servers[0], settings).start())
    until(lambda: servers[0].sql("select count(*) from pg_stat_replication") == str(standbys), "standbys follow")
    return servers


class Fleet:
    """The nodes and their log."""

    def __init__(self, server, folder, standbys, more=(), environment=None, count=3):
        self.server, self.folder = server, folder
        self.primary, *self.standbys = start_log(folder, standbys)
        self.tell("init")
        self.nodes = [Node(server, folder, f"n{number}", lambda: self.primary.port, more, environment).start()
                      for number in range(1, count + 1)]
        until(lambda: "no node yet" not in self.tell("status"), "the nodes have shards")
        self.tell("balance")
        # Each node hears of it at its next call.
        time.sleep(1)

    def tell(self, *arguments):
        done = subprocess.run([self.server, "cluster", arguments[0], *arguments[1:], "--cluster", self.primary.address], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise OSError(done.stderr)
        return done.stdout

    def fail_over(self):
        """Ends the primary for good, and goes on with the standby that has more. The other one is made anew as its standby."""
        old = self.primary
        old.kill()
        for one in self.standbys:
            until(lambda one=one: one.sql("select count(*) from pg_stat_wal_receiver") == "0", "nobody receives any more")
        ahead = max(self.standbys, key=lambda one: int(one.sql("select (pg_last_wal_receive_lsn() - '0/0'::pg_lsn)::bigint")))
        others = [one for one in self.standbys if one is not ahead]
        for one in others:
            one.remove()
        # Nobody is asked before there are two again.
        ahead.promote()
        settings = ["synchronous_standby_names=ANY 1 (s2, s3)"]
        names = [name for name in ("s1", "s2", "s3") if name != ahead.name]
        ahead.sql(f"alter system set synchronous_standby_names = 'ANY 1 ({', '.join(names)})'")
        ahead.sql("select pg_reload_conf()")
        old.remove()
        self.standbys = [Postgres(self.folder, name, ahead, settings).start() for name in names]
        until(lambda: ahead.sql("select count(*) from pg_stat_replication") == "2", "standbys follow")
        self.primary = ahead

    def heal(self):
        for node in self.nodes:
            node.link.mode = "pass"
            if node.process is None:
                node.start(60)
            else:
                node.resume()

    def end(self):
        for node in self.nodes:
            node.link.close()
            node.kill()
        for one in [self.primary, *self.standbys]:
            one.remove()
