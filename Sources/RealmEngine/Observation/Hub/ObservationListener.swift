// SPDX-License-Identifier: Apache-2.0

/// A listener of one target. All methods are called on the thread of the hub and must not wait for anything.
package protocol ObservationListener: AnyObject, Sendable {
    /// Events follow each other without gaps: each begins where the last one ended, or later where nothing happened.
    func didChange(_ event: ObservationEvent)
    /// Called before anything else about `version`. Unless the change only adds, the attachment is over.
    func didChange(_ schema: SchemaChange, from: Version, to version: Version)
    /// The attachment is over.
    func didFail(_ error: ObservationError)
}
