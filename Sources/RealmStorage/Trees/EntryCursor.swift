// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Walks the entries of a dictionary in stored order.
///
/// It walks both trees of a dictionary at the same pace. It is a value: a copy continues independently from the same place.
package struct EntryCursor: Sendable {
    /// The walk over the keys; nil for entries that were read into memory before.
    private var keys: ElementCursor?
    /// The walk over the values.
    private var values: ElementCursor?
    /// The root of the tree of keys, for error messages.
    private var keyTree = Ref.none
    /// The entries that were read into memory before.
    private var entries: [DictionaryView.Entry] = []
    /// The index of the next of `entries`.
    private var upcoming = 0

    /// Makes a cursor over two trees of equal length; no node is read yet.
    init(keys: BPlusTree, values: BPlusTree, within budget: WalkBudget?) {
        self.keys = ElementCursor(keys, within: budget)
        self.values = ElementCursor(values, within: budget)
        keyTree = keys.root
    }

    /// Makes a cursor over entries that were read into memory before.
    init(entries: [DictionaryView.Entry]) { self.entries = entries }

    /// Returns the next entry, or nil at the end; throws `.corrupt` on damage.
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
