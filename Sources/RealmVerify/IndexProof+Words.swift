// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Proofs of indexes of words, of which every pair of a word and an object that has it is added to
/// the sum, and subtracted where the object is read.
extension IndexProof {
    /// Adds a single object.
    mutating func addWord(endingWith path: [Int32], of object: ObjectKey) {
        sum.add(hash.step(state(of: WordIndexCheck.word(endingWith: path)), object.rawValue), hash)
        entryCount += 1
    }

    /// Reads the list of the objects that have the word of the present path.
    mutating func listOfWord(_ ref: Ref) throws(StorageError) {
        let tree = try BPlusTree(root: ref, space: table.space, shape: SearchIndex.listShape)
        let state = self.state(of: WordIndexCheck.word(endingWith: path))
        var previous: ObjectKey?
        var count = 0
        var cursor = tree.leaves(within: budget)
        while let (leaf, _) = try cursor.next() {
            try control?.check()
            guard case .int(let integers) = leaf else { throw doubt(ref) }
            for row in 0..<integers.count {
                let object = ObjectKey(integers.elements[row])
                if let previous, previous >= object { throw doubt(ref) }
                previous = object
                sum.add(hash.step(state, object.rawValue), hash)
            }
            count += integers.count
        }
        guard count > 0, count == tree.count else { throw doubt(ref) }
        entryCount += count
    }

    /// Subtracts the hashes of all words of texts.
    mutating func scanTexts() throws(StorageError) {
        var cursor = table.leaves()
        var states: [UInt64] = []
        while let leaf = try cursor.next() {
            try control?.check()
            let values = try leaf.attachStrings(column)
            for row in 0..<leaf.count {
                guard let text = try values.string(row) else { continue }
                FullTextTokenizer.forEachWord(of: text) { states.append(state(of: $0)) }
                subtract(&states, leaf.key(at: row))
            }
        }
    }

    /// Subtracts the hashes of all elements of lists.
    mutating func scanElements() throws(StorageError) {
        var cursor = table.leaves()
        var states: [UInt64] = []
        while let leaf = try cursor.next() {
            for row in 0..<leaf.count {
                try control?.check()
                let root = try leaf.collectionRoot(column, row: row)
                var elements = try ListView(root: root, space: leaf.space, shape: column.elementShape).elements()
                while let value = try elements.next() {
                    if case .string(let text) = value {
                        states.append(state(of: text.array))
                    } else {
                        states.append(state(of: nil))
                    }
                }
                subtract(&states, leaf.key(at: row))
            }
        }
    }

    /// Subtracts the hashes of the words of one object, each once.
    ///
    /// - Parameters:
    ///   - states: The states of the words, which are removed.
    private mutating func subtract(_ states: inout [UInt64], _ object: ObjectKey) {
        states.sort()
        var previous: UInt64?
        for state in states where state != previous {
            sum.subtract(hash.step(state, object.rawValue), hash)
            previous = state
        }
        states.removeAll(keepingCapacity: true)
    }

    /// Returns the state of a word; nil is null.
    private func state(of word: [UInt8]?) -> UInt64 {
        guard let word else { return hash.step(hash.start, Int64(-1)) }
        var state = hash.step(hash.start, Int64(word.count))
        ByteView.withBytes(of: word) { bytes in bytes.forEachWord { state = hash.step(state, $0) } }
        return state
    }
}
