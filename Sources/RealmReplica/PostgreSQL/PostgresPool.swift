// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Connections to one server, of which those that nobody uses are kept. Any thread may use it.
final class PostgresPool: Sendable {
    /// Which server.
    private let options: PostgresOptions
    /// How many connections are kept.
    private let limit: Int
    /// The connections that nobody uses at present.
    private let spare = RankedMutex<[PostgresConnection]>(.leaf, [])

    /// Makes a pool without connections.
    ///
    /// - Parameters:
    ///   - options: Which server.
    ///   - limit: How many connections are kept.
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

    /// Gives up the connections that nobody uses.
    func close() {
        let connections = spare.withLock { spare in
            defer { spare = [] }
            return spare
        }
        withExtendedLifetime(connections) {}
    }
}
