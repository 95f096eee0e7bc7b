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
           "write_lock_busy", "insufficient_storage"}


# Whoever is the primary waits for one of the other two.
SETTINGS = ["synchronous_standby_names=ANY 1 (s1, s2, s3)"]


def start_log(folder, standbys, machines=None):
    """Starts a server of PostgreSQL and standbys, of which one has to have each commit."""
    settings, servers = SETTINGS if standbys else [], []
    for number in range(1, 2 + standbys):
        machine = machines.make(f"s{number}", 20 + number) if machines else None
        servers.append(Postgres(folder, f"s{number}", servers[0] if servers else None, settings, machine).start())
    until(lambda: servers[0].sql("select count(*) from pg_stat_replication") == str(standbys), "standbys follow")
    return servers


class Fleet:
    """The nodes and their log."""

    def __init__(self, server, folder, standbys, more=(), environment=None, count=3, machines=None):
        self.server, self.folder, self.machines = server, folder, machines
        self.primary, *self.standbys = start_log(folder, standbys, machines)
        self.tell("init")
        headers, environment = self.make_key(environment) if machines else ({}, environment)
        self.nodes = []
        for number in range(1, count + 1):
            machine = machines.make(f"n{number}", 10 + number) if machines else None
            log = self.address if machines else lambda: self.primary.port
            node = Node(server, folder, f"n{number}", log, more, environment, machine)
            node.headers = headers
            self.nodes.append(node.start())
        until(lambda: "no node yet" not in self.tell("status"), "the nodes have shards")
        self.tell("balance")
        # Each node hears of it at its next call.
        time.sleep(1)

    def make_key(self, environment):
        """A key, without which nodes let nobody write from elsewhere. Returns the header field and the environment of nodes."""
        file = self.folder / "admin.key"
        file.write_bytes(subprocess.check_output([self.server, "keys", "add", "admin", "--role", "admin", "--data", str(self.folder)]))
        return ({"Authorization": "Bearer " + file.read_text().strip()}, {**(environment or {}), "REALM_REST_ADMIN_KEY_FILE": str(file)})

    @property
    def servers(self):
        return [self.primary, *self.standbys]

    @property
    def address(self):
        """Where nodes on machines find the log."""
        hosts = ",".join(sorted(one.host for one in self.servers))
        return f"host={hosts} port={self.primary.port} user=realm dbname=postgres target_session_attrs=read-write"

    def tell(self, *arguments):
        done = subprocess.run([self.server, "cluster", arguments[0], *arguments[1:], "--cluster", self.primary.address], text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise OSError(done.stderr)
        return done.stdout

    def fail_over(self, keeps_old=0):
        """Goes on with the standby that has more, and makes the other servers anew as its standbys. The primary is ended before that,
        or goes on for so many seconds without its standbys, as one that is cut off and does not know."""
        old, servers = self.primary, self.servers
        if keeps_old:
            for one in self.standbys:
                one.machine.ignore(old.machine)
                old.machine.ignore(one.machine)
        else:
            old.kill()
        for one in self.standbys:
            until(lambda one=one: one.sql("select count(*) from pg_stat_wal_receiver") == "0", "nobody receives any more")
        ahead = max(self.standbys, key=lambda one: int(one.sql("select (pg_last_wal_receive_lsn() - '0/0'::pg_lsn)::bigint")))
        others = [one for one in self.standbys if one is not ahead]
        for one in others:
            one.remove()
        # Nobody is answered before there are two again.
        ahead.promote()
        self.standbys = [self.follow(one, ahead) for one in others]
        time.sleep(keeps_old)
        old.remove()
        if keeps_old:
            for one in servers:
                one.machine.listen()
        self.primary = ahead
        self.standbys.append(self.follow(old, ahead))
        until(lambda: ahead.sql("select count(*) from pg_stat_replication") == "2", "standbys follow")

    def follow(self, server, primary):
        """Makes a server anew as a standby."""
        return Postgres(self.folder, server.name, primary, SETTINGS, server.machine).start()

    def listen(self):
        """Ends all cuts."""
        for machine in [self.machines.own] + [one.machine for one in self.nodes + self.servers]:
            machine.listen()

    def heal(self):
        if self.machines:
            self.listen()
            for one in self.nodes + self.servers:
                one.machine.set_clock(0)
        for node in self.nodes:
            if self.machines:
                node.machine.free_disk()
            else:
                node.link.mode = "pass"
            node.look()
            if node.process is None:
                node.start(60)
            else:
                node.resume()

    def end(self):
        for node in self.nodes:
            if node.link:
                node.link.close()
            node.kill()
        for one in self.servers:
            one.remove()
