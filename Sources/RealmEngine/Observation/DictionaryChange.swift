// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The difference between two states of a dictionary.
///
/// All arrays are in the order of the keys. The keys borrow their bytes from the snapshots of the event.
package struct DictionaryChange: Sendable {
    /// The keys of removed entries, from the old version.
    package let deleted: [DictionaryKey]
    /// The keys of new entries, from the new version.
    package let inserted: [DictionaryKey]
    /// The keys of entries with a written value, from the new version.
    package let modified: [DictionaryKey]
    /// The positions of the new entries after the change.
    package let insertedPlaces: [Int]
    /// The positions of the modified entries after the change.
    package let modifiedPlaces: [Int]
    /// Whether one operation removed all entries, and nothing was added afterwards.
    package let isCleared: Bool
    /// Whether the object that has the dictionary was deleted.
    package let isRootDeleted: Bool
    /// The number of entries after the change.
    package let count: Int

    /// Whether nothing has changed.
    package var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && modified.isEmpty && !isCleared && !isRootDeleted
    }
}
