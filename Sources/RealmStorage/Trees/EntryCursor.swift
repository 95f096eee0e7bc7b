// SPDX-License-Identifier: Apache-2.0

/// Walks the entries of a dictionary in stored order.
package struct EntryCursor: Sendable {
    private var keys: ElementCursor?
    private var values: ElementCursor?
    private var keyTree = Ref.none
    private var entries: [DictionaryView.Entry] = []
    private var upcoming = 0

    init(keys: BPlusTree, values: BPlusTree, within budget: WalkBudget?) {
        self.keys = ElementCursor(keys, within: budget)
        self.values = ElementCursor(values, within: budget)
        keyTree = keys.root
    }

    init(entries: [DictionaryView.Entry]) { self.entries = entries }

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
