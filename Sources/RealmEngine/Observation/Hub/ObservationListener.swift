// SPDX-License-Identifier: Apache-2.0

/// Hears of one target. All is called on the thread of the hub and must not wait for anything.
package protocol ObservationListener: AnyObject, Sendable {
    /// Events follow each other without gaps: each begins where the last one ended, or later where nothing happened.
    func didChange(_ event: ObservationEvent)
    /// Called before anything else about `version`. Unless the change only adds, the attachment is over.
    func didChange(_ schema: SchemaChange, from: Database.Version, to version: Database.Version)
    /// The attachment is over.
    func didFail(_ error: ObservationError)
}

/// Hears of all rounds of a hub, on its thread, after the listeners.
package struct ObservationRound: Sendable {
    /// All active targets are at this version now.
    package let version: Database.Version
    /// What the writer of this version wanted to be told; such a round has one commit.
    package let mark: (any Sendable)?
}

/// A hold on an observed target, for as long as it is kept.
package final class Attachment: Sendable {
    package let identity: String
    let number: Int

    init(_ identity: String, _ number: Int) {
        self.identity = identity
        self.number = number
    }
}

/// A target as it is when its observation begins.
package struct Attached: Sendable {
    package let attachment: Attachment
    /// What listeners are told follows from here.
    package let version: Database.Version
    package let contents: ObservedContents
}
