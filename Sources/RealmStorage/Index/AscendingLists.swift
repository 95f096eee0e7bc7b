// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The lists of a search index that are known to ascend by value, in one transaction.
///
/// Whoever inserts into a list that ascends keeps it so. It takes a walk over all values to find out that it does, so bulk writes need
/// this. Lists are known by the bytes of the data that leads to them: their refs change, and are used again.
struct AscendingLists {
    /// How many lists are remembered; beyond that all are forgotten.
    private static let maximumCount = 1024

    /// The bytes that distinguish the lists.
    private var known: Set<[UInt8]> = []
    /// How many times the transaction had been rolled back when the lists were last used. A list may ascend only because of a change
    /// that was undone.
    private var rollBackCount = 0

    /// Returns whether the list that `data` leads to is known to ascend.
    mutating func contains(_ data: IndexData, _ writes: WriteSpace) -> Bool {
        if rollBackCount != writes.rollBackCount { known = [] }
        rollBackCount = writes.rollBackCount
        return !known.isEmpty && known.contains(AscendingLists.path(data))
    }

    /// Remembers that the list that `data` leads to ascends, now and after all further changes of this transaction.
    mutating func insert(_ data: IndexData, _ writes: WriteSpace) {
        if rollBackCount != writes.rollBackCount || known.count >= AscendingLists.maximumCount { known = [] }
        rollBackCount = writes.rollBackCount
        known.insert(AscendingLists.path(data))
    }

    /// Returns the bytes that an index distinguishes.
    private static func path(_ data: IndexData) -> [UInt8] { data.prefix(IndexData.maximumOffset + 4) }
}
