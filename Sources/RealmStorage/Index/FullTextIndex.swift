// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A full-text index: from a word, or the beginning of one, to the objects whose text has it.
///
/// The tree holds complete words: an entry continues through subindexes to the word's end, so the
/// texts need not be read again. Source: docs/format.md, "Search indexes".
package struct FullTextIndex: Sendable {
    /// The tree of words, which has the nodes of a general index.
    private let index: SearchIndex

    /// Makes a reader of the index below `root`; no node is read yet.
    package init(root: Ref, space: NodeSpace) { index = SearchIndex(root: root, space: space) }

    /// Returns the objects whose text has exactly `word`, in ascending order. They are counted at once, and read when they are needed.
    ///
    /// - Parameter word: The word as the tokenizer returns it: in lower case and without
    ///   diacritics.
    /// - Throws: `.corrupt` for nodes that cannot be read.
    /// - Complexity: O(length of the word).
    package func keys(with word: [UInt8]) throws(StorageError) -> IndexedKeys {
        let data = IndexData(bytes: word)
        var offset = 0
        var node = index.root
        while offset <= word.count {
            guard let entry = try index.entry(for: data.key(at: offset), in: node) else { return IndexedKeys([]) }
            offset += 4
            switch entry {
            case .one(let key): return IndexedKeys(offset > word.count || isLastChunk(offset, word) ? [key] : [])
            case .list(let tree): return offset > word.count || isLastChunk(offset, word) ? IndexedKeys(tree) : IndexedKeys([])
            case .subindex(let next): node = next
            }
        }
        return IndexedKeys([])
    }

    /// Returns whether `offset` is the end of the word: a word of a multiple of four bytes ends
    /// with its last full chunk unless a longer word shares that chunk.
    private func isLastChunk(_ offset: Int, _ word: [UInt8]) -> Bool { offset == word.count }

    /// Returns the objects that have a word starting with `prefix`, in ascending order, each once.
    ///
    /// - Parameter prefix: The beginning of a word as the tokenizer returns it.
    /// - Throws: `.corrupt` for an index whose nodes are circular or cannot be read.
    /// - Complexity: O(number of words that begin so).
    package func keys(withPrefix prefix: [UInt8]) throws(StorageError) -> IndexedKeys {
        var lists: [IndexedKeys] = []
        var single: [ObjectKey] = []
        let budget = WalkBudget(index.space)
        try collect(prefix[...], below: index.root, into: &lists, &single, within: budget, depth: 0)
        if !single.isEmpty { lists.append(IndexedKeys(single.sorted())) }
        return try IndexedKeys.union(lists, within: budget)
    }

    /// Collects the objects below a node whose words begin with the rest of the prefix: lists as they are, and single keys in any order.
    private func collect(
        _ rest: ArraySlice<UInt8>, below ref: Ref, into lists: inout [IndexedKeys], _ single: inout [ObjectKey],
        within budget: WalkBudget, depth: Int
    ) throws(StorageError) {
        try budget.spend(at: ref)
        guard depth < 64 else { throw .corrupt(ref: ref, reason: "a full-text index without end") }
        let node = try IndexNode(ref, index.space)
        for position in 0..<node.count {
            if node.isInner {
                try collect(rest, below: try node.child(position), into: &lists, &single, within: budget, depth: depth + 1)
                continue
            }
            guard FullTextIndex.chunk(node.key(position), matches: rest) else { continue }
            switch try node.entry(position) {
            case .one(let key): if rest.count <= 4 { single.append(key) }
            case .list(let tree):
                guard rest.count <= 4 else { continue }
                try budget.spend(at: tree.root)
                lists.append(IndexedKeys(tree))
            case .subindex(let next):
                try collect(rest.dropFirst(4), below: next, into: &lists, &single, within: budget, depth: depth + 1)
            }
        }
    }

    /// Returns whether a key's four bytes of a word begin with the rest of the prefix, as far as both reach.
    private static func chunk(_ key: Int32, matches rest: ArraySlice<UInt8>) -> Bool {
        let bits = UInt32(bitPattern: key)
        let wordBytes = wordByteCount(bits)
        for (step, byte) in rest.prefix(4).enumerated() {
            guard step < wordBytes, UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * step)) == byte else { return false }
        }
        return true
    }

    /// Returns how many of the four bytes of a key belong to the word. Words are in lower case, so
    /// the end mark "X" is never part of one.
    private static func wordByteCount(_ bits: UInt32) -> Int {
        for step in 0..<4 where UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * step)) == 0x58 { return step }
        return 4
    }
}
