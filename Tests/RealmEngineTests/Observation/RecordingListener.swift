// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Keeps what a hub tells about one target.
final class RecordingListener: ObservationListener {
    struct State {
        var events: [ObservationEvent] = []
        var schemas: [SchemaChange] = []
        var error: ObservationError?
        var behind: UInt64?
        var restarts = 0
    }

    let monitor = Monitor(State())
    let threads: [EvaluationThread]

    init(threads: [EvaluationThread] = []) { self.threads = threads }

    func didChange(_ event: ObservationEvent) { monitor.broadcast { $0.events.append(event) } }

    func didChange(_ schema: SchemaChange, from: Version, to version: Version) {
        monitor.broadcast { $0.schemas.append(schema) }
    }

    func didFail(_ error: ObservationError) { monitor.broadcast { $0.error = error } }

    func isBehind(at version: UInt64?) { monitor.broadcast { $0.behind = version } }

    func willRestart() { monitor.broadcast { $0.restarts += 1 } }

    /// The events so far, which are forgotten.
    func take() -> [ObservationEvent] {
        monitor.withLock { state in
            defer { state.events = [] }
            return state.events.filter { !$0.change.isSilent }
        }
    }

    var schemas: [SchemaChange] { monitor.withLock { $0.schemas } }
    /// How often it was told that the contents have to be read again.
    var restarts: Int { monitor.withLock { $0.restarts } }
    var error: ObservationError? { monitor.withLock { $0.error } }
    /// The version up to which all events were told; nil for that of the hub.
    var behind: UInt64? { monitor.withLock { $0.behind } }
}

/// A target of a test with its listener.
struct Observed {
    let listener: RecordingListener
    let attached: Attached
    /// What advances the target.
    private let hub: ObservationHub

    /// Begins to observe a target. With `meanwhile` another thread evaluates it, which begins before what `meanwhile` commits and goes on
    /// after that.
    init(
        _ target: ObservedTarget, in database: Database, isActive: Bool = false, scope: (any VersionScope)? = nil,
        threads: [EvaluationThread] = [], meanwhile: (() throws -> Void)? = nil
    ) throws {
        listener = RecordingListener(threads: threads)
        hub = database.observations(for: scope)
        let answer = Awaited<Result<Attached, ObservationError>>()
        let begun = Awaited<Bool>()
        let released = Awaited<Bool>()
        var admission = ObservedMemory.Admission()
        if meanwhile != nil {
            admission.runElsewhere = { work in
                Threads.spawn("evaluation", work)
                return true
            }
            // The thread asks when it has begun, and again after a change of the schema.
            admission.isWanted = {
                begun.set(true)
                _ = try? released.wait()
                return true
            }
        }
        hub.attach(target, listener, isActive: isActive, admission) { answer.set($0) }
        if let meanwhile {
            defer { released.set(true) }
            _ = eventually { begun.isSet || answer.isSet }
            try meanwhile()
        }
        attached = try answer.wait().get()
    }

    /// What happened up to the newest version.
    func events() throws -> [ObservationEvent] {
        let answer = Awaited<Result<Version, ObservationError>>()
        hub.catchUp(attached.attachment) { answer.set($0) }
        _ = try answer.wait()
        return listener.take()
    }

    /// The state in the newest version.
    func contents() throws -> ObservedContents {
        let answer = Awaited<Result<Attached, ObservationError>>()
        hub.contents(of: attached.attachment) { answer.set($0) }
        return try answer.wait().get().contents
    }

    func detach() { hub.detach(attached.attachment) }
}

extension ObservedChange {
    /// What changed in a collection of rows, or nil when it is no such change.
    var rows: RowsChange? {
        if case .rows(let rows) = self { return rows }
        return nil
    }
}
