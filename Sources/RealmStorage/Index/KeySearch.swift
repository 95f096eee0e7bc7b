// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Looks for ascending keys in an ascending list, of which it reads the leaves where keys are looked for.
struct KeySearch {
    private let keys: IndexedKeys
    private var part: [ObjectKey] = []
    /// The first key of the part that was not passed yet.
    private var position = 0
    /// The index in the list of the key after the part.
    private var end = 0

    /// Makes a search in a list of which nothing is read yet.
    init(in keys: IndexedKeys) { self.keys = keys }

    /// Returns whether the list has a key, which is not below the one that was looked for before.
    ///
    /// - Throws: `.corrupt` for a damaged list.
    mutating func has(_ key: ObjectKey) throws(StorageError) -> Bool {
        if part.last.map({ $0 < key }) ?? true, try !advance(to: key) { return false }
        // Steps double, so that near keys are found in few of them.
        var step = 1
        while position + step < part.count, part[position + step] < key {
            position += step
            step *= 2
        }
        var high = min(position + step, part.count - 1)
        while position < high {
            let middle = (position + high) / 2
            if part[middle] < key { position = middle + 1 } else { high = middle }
        }
        return part[position] == key
    }

    /// Reads the part in which a key is or would be: the next one, or else one that is found by halving. Returns whether there is one.
    private mutating func advance(to key: ObjectKey) throws(StorageError) -> Bool {
        guard end < keys.count else { return false }
        try read(from: end)
        if let last = part.last, last >= key { return true }
        let index = try keys.firstIndex(after: ObjectKey(key.rawValue &- 1))
        guard index < keys.count else {
            end = keys.count
            return false
        }
        try read(from: index)
        return part.last.map { $0 >= key } ?? false
    }

    /// Reads the keys from an index of the list on, up to the end of their leaf.
    private mutating func read(from index: Int) throws(StorageError) {
        part = try keys.piece(from: index, atMost: .max)
        position = 0
        end = index + part.count
    }
}
