// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Observes one query result in process, and records when its events arrive.
final class ResultListener: ObservationListener {
    /// The deliveries of the hub so far; the monitor guards them.
    private struct Received {
        /// The number of events that were delivered so far.
        var events = 0
        /// The monotonic time of the last event in nanoseconds.
        var eventTime: UInt64 = 0
        /// The version that all observers have reached with the last round.
        var version: UInt64 = 0
        /// The monotonic time of the last round in nanoseconds.
        var roundTime: UInt64 = 0
        /// The attachment, once the result is observed.
        var attached: Attachment?
        /// The reason for which the result cannot be observed.
        var failure: String?
    }

    /// The state, changed on the hub's thread and awaited by the measuring thread.
    private let received = Monitor(Received())

    /// Starts to observe a result, and waits until the observation has begun.
    ///
    /// - Parameters:
    ///   - text: The query; nil for all objects of the class `Item`.
    /// - Returns: The attachment, with which the observation is ended.
    /// - Throws: `BenchmarkError` when the result cannot be observed.
    func attach(to database: Database, _ text: String?) throws -> Attachment {
        guard let table = database.current.snapshot.classTable(named: "Item") else {
            throw BenchmarkError.unsuitable("there is no class Item")
        }
        let query = try text.map { ObservedQuery(try Query.parse($0)) } ?? ObservedQuery()
        let target = ObservedTarget(.results(table.key, query), identity: text ?? "")
        _ = database.observations.onRound { [received] version in
            received.broadcast {
                $0.version = version.token.version
                $0.roundTime = Harness.now()
            }
        }
        database.observations.attach(target, self, isActive: true) { [received] result in
            received.broadcast { received in
                switch result {
                case .success(let attached): received.attached = attached.attachment
                case .failure(let error): received.failure = "\(error)"
                }
            }
        }
        let isOver = received.wait { $0.attached != nil || $0.failure != nil ? $0 : nil }
        guard let attachment = isOver?.attached else { throw BenchmarkError.unsuitable("the result is not observed") }
        return attachment
    }

    /// Records the time of an event; called on the hub's thread.
    func didChange(_ event: ObservationEvent) {
        let time = Harness.now()
        received.broadcast {
            $0.events += 1
            $0.eventTime = time
        }
    }

    /// Does nothing, because the schema does not change.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
    /// Does nothing. An observation that fails delivers no more events, so the measurement does not end.
    func didFail(_ error: ObservationError) {}

    /// Waits for the event with the given number; returns the monotonic time of the last event in nanoseconds.
    func waitForEvent(_ number: Int) -> UInt64 { received.wait { $0.events >= number ? $0.eventTime : nil } ?? 0 }
    /// Waits until all observers were advanced to a version; returns the monotonic time of the last round in nanoseconds.
    func waitForRound(_ version: UInt64) -> UInt64 { received.wait { $0.version >= version ? $0.roundTime : nil } ?? 0 }
}
