// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Hears of one result.
final class ResultListener: ObservationListener {
    private struct Received {
        var events = 0
        var eventTime: UInt64 = 0
        var version: UInt64 = 0
        var roundTime: UInt64 = 0
        var attached: Attachment?
        var failure: String?
    }

    private let received = Monitor(Received())

    func attach(to database: Database, _ text: String?) throws -> Attachment {
        guard let table = database.current.snapshot.classTable(named: "Item") else {
            throw BenchmarkError.unsuitable("there is no class Item")
        }
        let query = try text.map { ObservedQuery(try Query.parse($0)) } ?? ObservedQuery()
        let target = ObservedTarget(.results(table.key, query), identity: text ?? "")
        _ = database.observations.onRound { [received] round in
            received.broadcast {
                $0.version = round.version.token.version
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

    func didChange(_ event: ObservationEvent) {
        let time = Harness.now()
        received.broadcast {
            $0.events += 1
            $0.eventTime = time
        }
    }

    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {}
    func didFail(_ error: ObservationError) {}

    /// The time of the event of this number.
    func waitForEvent(_ number: Int) -> UInt64 { received.wait { $0.events >= number ? $0.eventTime : nil } ?? 0 }
    /// The time at which everybody was told of a version.
    func waitForRound(_ version: UInt64) -> UInt64 { received.wait { $0.version >= version ? $0.roundTime : nil } ?? 0 }
}
