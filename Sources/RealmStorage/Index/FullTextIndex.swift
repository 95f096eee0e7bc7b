// SPDX-License-Identifier: Apache-2.0

/// A full-text index: from a word, or the beginning of one, to the objects whose text has it.
///
/// The tree holds complete words: an entry goes on through subindexes to the word's end, so no text needs to be
/// looked at again. Source: docs/format.md, "Search indexes".
package struct FullTextIndex: Sendable {
    /// The tree of words.
    private let index: SearchIndex

    /// The index below `root`; no node is read yet.
    package init(root: Ref, space: NodeSpace) { index = SearchIndex(root: root, space: space) }

    /// The objects that have exactly `word` (folded as the tokenizer does), ascending.
    ///
    /// O(length of the word). Throws `.corrupt` for nodes that cannot be read.
    package func objects(with word: [UInt8]) throws(StorageError) -> [ObjectKey] {
        let data = IndexData(bytes: word)
        var offset = 0
        var node = index.root
        while offset <= word.count {
            guard let entry = try index.entry(for: data.key(at: offset), in: node) else { return [] }
            offset += 4
            switch entry {
            case .one(let key): return offset > word.count || isLastChunk(offset, word) ? [key] : []
            case .list(let tree): return offset > word.count || isLastChunk(offset, word) ? try tree.objectKeys() : []
            case .subindex(let next): node = next
            }
        }
        return []
    }

    /// A word of a multiple of four bytes ends with its last full chunk unless a longer word shares that chunk.
    private func isLastChunk(_ offset: Int, _ word: [UInt8]) -> Bool { offset == word.count }

    /// The objects that have a word starting with `prefix`, ascending, each once.
    ///
    /// Takes time that grows with the number of words that begin so. Throws `.corrupt` for an index whose nodes go in circles.
    package func objects(withPrefix prefix: [UInt8]) throws(StorageError) -> [ObjectKey] {
        var found: Set<ObjectKey> = []
        try collect(prefix[...], below: index.root, into: &found, within: WalkBudget(index.space), depth: 0)
        return found.sorted()
    }

    /// Adds the objects below a node whose words begin with what is left of the prefix.
    private func collect(
        _ rest: ArraySlice<UInt8>, below ref: Ref, into found: inout Set<ObjectKey>, within budget: WalkBudget, depth: Int
    ) throws(StorageError) {
        try budget.spend(at: ref)
        guard depth < 64 else { throw .corrupt(ref: ref, reason: "a full-text index without end") }
        let node = try IndexNode(ref, index.space)
        for position in 0..<node.count {
            if node.isInner {
                try collect(rest, below: try node.child(position), into: &found, within: budget, depth: depth + 1)
                continue
            }
            guard FullTextIndex.chunk(node.key(position), matches: rest) else { continue }
            switch try node.entry(position) {
            case .one(let key): if rest.count <= 4 { found.insert(key) }
            case .list(let tree): if rest.count <= 4 { found.formUnion(try tree.objectKeys(within: budget)) }
            case .subindex(let next): try collect(rest.dropFirst(4), below: next, into: &found, within: budget, depth: depth + 1)
            }
        }
    }

    /// Does a key's chunk of a word begin with what is left of the prefix, as far as both reach?
    private static func chunk(_ key: Int32, matches rest: ArraySlice<UInt8>) -> Bool {
        let bits = UInt32(bitPattern: key)
        let wordBytes = wordByteCount(bits)
        for (step, byte) in rest.prefix(4).enumerated() {
            guard step < wordBytes, UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * step)) == byte else { return false }
        }
        return true
    }

    /// How many of the four bytes belong to the word. Words are lower case, so the end mark "X" is never part of one.
    private static func wordByteCount(_ bits: UInt32) -> Int {
        for step in 0..<4 where UInt8(truncatingIfNeeded: bits >> UInt32(24 - 8 * step)) == 0x58 { return step }
        return 4
    }
}
