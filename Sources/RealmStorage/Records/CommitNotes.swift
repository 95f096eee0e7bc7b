// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What a commit did, beside the bytes that it wrote.
///
/// The bytes of a commit make an equal file, but observers need what was done: without it, moves and operations on
/// collections would be told otherwise from a copy than from the file itself.
package struct CommitNotes: Sendable, Equatable {
    /// The changes of objects and schema, in the order in which they were made.
    package var changes: [ObjectChange]
    /// The registrations, or parts of them, that are not notified of the commit, by the names that clients have for them.
    package var skips: [String]
    /// The requests that the commit has carried out. Whoever stores the record keeps them beside it; its bytes do not have them.
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
