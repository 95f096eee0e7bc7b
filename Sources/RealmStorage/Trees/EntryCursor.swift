// SPDX-License-Identifier: Apache-2.0

/// Walks the entries of a dictionary in stored order.
///
/// Walks both trees of a dictionary at the same pace. A value type: a copy goes on by itself from the same place.
package struct EntryCursor: Sendable {
    /// Walks the keys; nil over entries that were read before.
    private var keys: ElementCursor?
    /// Walks the values.
    private var values: ElementCursor?
    /// The tree of keys, for messages.
    private var keyTree = Ref.none
    /// Entries that were read before.
    private var entries: [DictionaryView.Entry] = []
    /// The next of them.
    private var upcoming = 0

    /// A cursor over two trees of equal length.
    init(keys: BPlusTree, values: BPlusTree, within budget: WalkBudget?) {
        self.keys = ElementCursor(keys, within: budget)
        self.values = ElementCursor(values, within: budget)
        keyTree = keys.root
    }

    /// A cursor over entries that were read before.
    init(entries: [DictionaryView.Entry]) { self.entries = entries }

    /// The next entry, or nil at the end. Throws `.corrupt` on damage.
    package mutating func next() throws(StorageError) -> DictionaryView.Entry? {
        guard keys != nil else {
            guard upcoming < entries.count else { return nil }
            upcoming += 1
            return entries[upcoming - 1]
        }
        guard let key = try keys?.next() else { return nil }
        guard let value = try values?.next() else { throw .corrupt(ref: keyTree, reason: "more keys than values") }
        return DictionaryView.Entry(key: try DictionaryKey(key, keyTree), value: value)
    }
}
