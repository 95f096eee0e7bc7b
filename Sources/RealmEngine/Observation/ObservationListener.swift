// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Receives the events of one target. All methods are called on the thread of the hub and must not wait.
package protocol ObservationListener: AnyObject, Sendable {
    /// Called with a change of the target.
    /// Events have no gaps: each starts at the version at which the last one ended, or at a later one if
    /// nothing happened in between.
    func didChange(_ event: ObservationEvent)
    /// Called when the schema has changed, before any event of `version`.
    ///
    /// - Parameters:
    ///   - schema: The schema versions, and whether the change is additive. After any other change the
    ///     attachment has ended.
    ///   - from: The version before the change.
    ///   - version: The version that has the new schema.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version)
    /// Called when the attachment has ended because of an error.
    func didFail(_ error: ObservationError)
}
