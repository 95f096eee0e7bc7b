// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport

@testable import RealmReplica

extension PostgresServer {
    /// How much of the log of its primary, which is gone, a standby has, as a number that grows.
    func receivedPosition() throws -> UInt64 {
        // What was received is on its disk when nobody receives any more.
        guard try eventually({ try number("select count(*) from pg_stat_wal_receiver") == 0 }) else { return 0 }
        return try number("select (pg_last_wal_receive_lsn() - '0/0'::pg_lsn)::bigint")
    }

    private func number(_ statement: String) throws -> UInt64 {
        let connection = try PostgresConnection(to: address, until: .now().adding(seconds: 10))
        let answers = try connection.runTexts([statement], until: .now().adding(seconds: 10))
        return answers.first?.rows.first?.number(0) ?? 0
    }

    /// Whether a commit waits for standbys.
    var isWaitingAtCommits: Bool {
        guard let connection = try? PostgresConnection(to: address, until: .now().adding(seconds: 10)) else { return false }
        let commit = "create table if not exists probe_\(Int.random(in: 0..<1_000_000)) ()"
        return (try? connection.runTexts([commit], until: .now().adding(seconds: 0.3))) == nil
    }

    /// Runs statements, each by itself.
    func execute(_ statements: String...) throws {
        for statement in statements {
            let connection = try PostgresConnection(to: address, until: .now().adding(seconds: 10))
            _ = try connection.runTexts([statement], until: .now().adding(seconds: 10))
        }
    }

    /// Makes a log with tables.
    func makeLog(_ address: String? = nil) throws -> PostgresLog {
        let log = PostgresLog(PostgresOptions(self.address))
        try log.prepare()
        guard let address else { return log }
        log.close()
        return PostgresLog(PostgresOptions(address))
    }
}
