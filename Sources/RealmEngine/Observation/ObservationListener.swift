// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Receives the events of one target. All methods are called on the thread of the hub and must not wait.
package protocol ObservationListener: AnyObject, Sendable {
    /// Called with a change of the target. Events have no gaps: each starts at the version at which the last one ended, or at a
    /// later one if nothing happened in between.
    func didChange(_ event: ObservationEvent)
    /// Called when the schema has changed, before any event of `version`.
    ///
    /// - Parameters:
    ///   - schema: The schema versions, and whether the change is additive. After any other change the
    ///     attachment has ended.
    ///   - from: The version before the change.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version)
    /// Called when the attachment has ended because of an error.
    func didFail(_ error: ObservationError)

    /// The threads that may evaluate the target when that takes long, one for each client; none if it is always evaluated on the thread of
    /// the hub, where all other targets wait meanwhile.
    var threads: [EvaluationThread] { get }
    /// Prepares the call of `didChange`. The thread that has evaluated the target calls it.
    ///
    /// - Returns: The call that the thread of the hub makes in place of `didChange`.
    func prepare(_ event: ObservationEvent) -> @Sendable () -> Void
    /// Called when the target remains at a version although later commits may concern it, until its evaluation has ended. It is called
    /// before the end of the round of these commits, and after the event that leads to the version.
    ///
    /// - Parameter version: The version up to which all events were delivered; nil for the position of the hub.
    func isBehind(at version: UInt64?)
    /// May be called when the contents have to be read again, before the evaluation that does that. The change of the next event is unknown
    /// then.
    func willRestart()
}

extension ObservationListener {
    package var threads: [EvaluationThread] { [] }
    /// Prepares nothing.
    package func prepare(_ event: ObservationEvent) -> @Sendable () -> Void { { [self] in didChange(event) } }
    /// Does nothing.
    package func isBehind(at version: UInt64?) {}
    /// Does nothing.
    package func willRestart() {}
}

/// The change of a target between two versions, as the hub delivers it to listeners.
/// Both versions are kept in the file while the event is referenced.
package struct ObservationEvent: Sendable {
    /// The version before the change, from which old values are read.
    package let from: Version
    /// The version after the change, from which new values are read.
    package let to: Version
    /// The difference between the two states of the target.
    package let change: ObservedChange
    /// The memory in bytes that the observation takes after the change.
    package let byteCount: Int
}

/// A change of the classes or properties of a realm, as listeners receive it.
package struct SchemaChange: Sendable, Equatable {
    /// The schema version before; nil when the file had none.
    package let oldVersion: UInt64?
    /// The schema version afterwards; nil when the file has none.
    package let newVersion: UInt64?
    /// Whether classes and properties were only added.
    package let isAdditive: Bool
}
