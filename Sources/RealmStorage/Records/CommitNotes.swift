// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The work of a commit, in addition to the bytes that it wrote.
///
/// The bytes of a commit make an equal file, but observers need the operations: without them, notifications of moves and of
/// operations on collections would differ between a copy and the file itself.
package struct CommitNotes: Sendable, Equatable {
    /// The changes of objects and schema, in the order in which they were made.
    package var changes: [ObjectChange]
    /// The registrations, or parts of them, that are not notified of the commit, by the names that clients have for them.
    package var skips: [String]
    /// The requests that the commit has carried out. The log that stores the record keeps them next to it; its bytes do not have
    /// them.
    package var requests: [CommittedRequest] = []

    package init(changes: [ObjectChange] = [], skips: [String] = []) {
        self.changes = changes
        self.skips = skips
    }

    /// Whether a table was created, removed or changed.
    package var changesSchema: Bool {
        changes.contains { change in
            if case .schema = change { return true }
            return false
        }
    }
}
