// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// All in the order of the keys, which borrow from the snapshots of the event.
package struct DictionaryChange: Sendable {
    /// Keys of the version before.
    package let deleted: [DictionaryKey]
    /// Keys of the version now.
    package let inserted: [DictionaryKey]
    /// Keys that have another value now.
    package let modified: [DictionaryKey]
    /// Positions now of the entries of `inserted` and `modified`.
    package let insertedPlaces: [Int]
    /// Positions now of the entries of `modified`.
    package let modifiedPlaces: [Int]
    /// Whether one operation removed everything, and nothing was added afterwards.
    package let isCleared: Bool
    /// Whether the object that has the dictionary is gone.
    package let isRootDeleted: Bool
    /// How many entries there are now.
    package let count: Int

    /// Whether nothing is different.
    package var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && modified.isEmpty && !isCleared && !isRootDeleted
    }
}
