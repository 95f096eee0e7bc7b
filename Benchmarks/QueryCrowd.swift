// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Observes many query results in process, and counts their events.
final class QueryCrowd: ObservationListener {
    /// The deliveries of the hub so far; the monitor guards them.
    private struct Received {
        var events = 0
        /// The version that all queries have reached with the last round.
        var version: UInt64 = 0
        /// The queries that are observed.
        var attachments: [Attachment] = []
        /// The reason for which a query cannot be observed.
        var failure: String?
    }

    /// The state, changed on the hub's thread and awaited by the measuring thread.
    private let received: Monitor<Received>
    /// The database whose objects are observed.
    private let database: Database
    /// The token of the observer of rounds.
    private let token: Int

    /// Prepares the observation of queries in a database.
    init(_ database: Database) {
        let received = Monitor(Received())
        self.received = received
        self.database = database
        token = database.observations.onRound { version in
            received.broadcast { $0.version = version.token.version }
        }
    }

    /// Observes a query over the class `Item`, and waits until that has begun.
    ///
    /// - Throws: `BenchmarkError` when the query cannot be observed.
    func observe(_ text: String) throws {
        guard let table = database.current.snapshot.classTable(named: "Item") else {
            throw BenchmarkError.unsuitable("there is no class Item")
        }
        let target = ObservedTarget(.results(table.key, ObservedQuery(try Query.parse(text))), identity: text)
        let count = received.withLock { $0.attachments.count }
        database.observations.attach(target, self, isActive: true) { [received] result in
            received.broadcast { received in
                switch result {
                case .success(let attached): received.attachments.append(attached.attachment)
                case .failure(let error): received.failure = "\(error)"
                }
            }
        }
        let failure = received.wait { $0.attachments.count > count || $0.failure != nil ? .some($0.failure) : nil } ?? nil
        if let failure { throw BenchmarkError.unsuitable("the query is not observed: \(failure)") }
    }

    /// Ends all observations.
    func end() {
        database.observations.removeRoundObserver(token)
        for attachment in received.withLock({ $0.attachments }) { database.observations.detach(attachment) }
    }

    /// The number of events so far.
    var eventCount: Int { received.withLock { $0.events } }

    /// Waits until all queries were advanced to a version. Without queries there is no round to wait for.
    func waitForRound(_ version: UInt64) {
        guard !received.withLock({ $0.attachments.isEmpty }) else { return }
        _ = received.wait { $0.version >= version ? true : nil }
    }

    /// Counts an event; called on the hub's thread.
    func didChange(_ event: ObservationEvent) { received.broadcast { $0.events += 1 } }
    /// Does nothing, because the schema does not change.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
    /// Does nothing. The number of events shows that a query has failed.
    func didFail(_ error: ObservationError) {}
}
