// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// All in the order of the keys, which borrow from the snapshots of the event.
package struct DictionaryChange: Sendable {
    package let deleted: [DictionaryKey]
    package let inserted: [DictionaryKey]
    package let modified: [DictionaryKey]
    /// Positions now of the entries of `inserted` and `modified`.
    package let insertedPlaces: [Int]
    package let modifiedPlaces: [Int]
    package let isCleared: Bool
    package let isRootDeleted: Bool
    package let count: Int

    package var isEmpty: Bool {
        deleted.isEmpty && inserted.isEmpty && modified.isEmpty && !isCleared && !isRootDeleted
    }
}
