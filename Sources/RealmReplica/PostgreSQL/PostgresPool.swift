// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Connections to one server; idle ones are kept. Any thread may use it.
final class PostgresPool: Sendable {
    /// The server.
    private let options: PostgresOptions
    /// The maximum number of idle connections.
    private let limit: Int
    /// The idle connections.
    private let spare = RankedMutex<[PostgresConnection]>(.leaf, [])

    /// Makes a pool without connections.
    ///
    /// - Parameters:
    ///   - options: The server.
    ///   - limit: The maximum number of idle connections.
    init(_ options: PostgresOptions, keeping limit: Int) {
        self.options = options
        self.limit = limit
    }

    /// Runs statements on a connection, which is kept if nothing fails.
    ///
    /// - Throws: `.refused(.logUnavailable)` with the reason.
    func run<Result>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(StorageError) -> Result {
        do throws(PostgresFailure) {
            let kept = spare.withLock { $0.popLast() }
            let connection: PostgresConnection
            if let kept { connection = kept } else { connection = try PostgresWorker.connect(options) }
            let result = try body(connection)
            if !connection.isBroken { spare.withLock { if $0.count < limit { $0.append(connection) } } }
            return result
        } catch {
            throw .refused(.logUnavailable(error.text))
        }
    }

    /// Closes the idle connections.
    func close() {
        let connections = spare.withLock { spare in
            defer { spare = [] }
            return spare
        }
        withExtendedLifetime(connections) {}
    }
}

/// The server of a log, and the requirements on it.
package struct PostgresOptions: Sendable {
    /// As libpq takes it: a URL or `name=value` pairs. It may contain a password, and is never logged.
    package var address: String
    /// Whether a server without `synchronous_standby_names` is refused, because it alone would have the log.
    package var requiresStandby = false
    /// The number of seconds in which a connection has to be made.
    package var connectSeconds = 3.0
    /// The number of seconds that transfers of bases and records wait for an answer.
    package var transferSeconds = 30.0
    /// The number of requests that wait at the same time, at most.
    package var maximumWaiting = 4096

    package init(_ address: String) { self.address = address }
}
