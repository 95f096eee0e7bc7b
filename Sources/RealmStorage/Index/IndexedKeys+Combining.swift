// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Intersections and unions of lists of an index.
///
/// Lists of about the same length are combined as bits, if their keys are close together; what is short is looked up in what is far
/// longer.
extension IndexedKeys {
    /// The ratio of lengths from which the longer list is not read as a whole.
    private static let farLonger = 16

    /// Returns the keys that all of some lists have, and that none of some other lists has.
    ///
    /// - Parameters:
    ///   - lists: Ascending lists, at least one.
    ///   - excluded: Ascending lists of the keys that are left out.
    /// - Throws: `.corrupt` for a damaged list.
    /// - Complexity: O(n) for the shortest list of n keys and those that are not far longer, O(n log m) for each list of m keys that is.
    package static func common(to lists: [IndexedKeys], without excluded: [IndexedKeys] = []) throws(StorageError) -> IndexedKeys
    {
        let lists = lists.sorted { $0.count < $1.count }
        guard let shortest = lists.first, let bounds = try shortest.bounds() else { return IndexedKeys([]) }
        guard lists.count + excluded.count > 1 else { return shortest }
        let limit = shortest.count * farLonger
        var found = shortest
        var isLeft: (IndexedKeys) -> Bool = { _ in true }
        if var bits = KeyBitmap(from: bounds.first, through: bounds.last, forKeys: shortest.count) {
            try bits.insert(shortest)
            for list in lists.dropFirst() where list.count <= limit {
                var other = KeyBitmap(withBoundsOf: bits)
                try other.insert(list)
                bits.formIntersection(other)
            }
            for list in excluded where list.count <= limit { try bits.remove(list) }
            found = IndexedKeys(bits.keys)
            isLeft = { $0.count > limit }
        }
        for list in lists.dropFirst() where isLeft(list) { found = IndexedKeys(try found.all(in: list, arePresent: true)) }
        for list in excluded where isLeft(list) { found = IndexedKeys(try found.all(in: list, arePresent: false)) }
        return found
    }

    /// Returns the keys that any of some lists has, ascending and each once.
    ///
    /// - Parameters:
    ///   - lists: Ascending lists.
    ///   - budget: The nodes that may be visited in a walk over all of them.
    /// - Throws: `.corrupt` for a damaged list.
    /// - Complexity: O(n log m) for n keys in m lists.
    package static func union(_ lists: [IndexedKeys], within budget: WalkBudget? = nil) throws(StorageError) -> IndexedKeys {
        var bounds: (first: ObjectKey, last: ObjectKey)?
        for list in lists {
            guard let own = try list.bounds() else { continue }
            bounds = bounds.map { (min($0.first, own.first), max($0.last, own.last)) } ?? own
        }
        guard let bounds else { return IndexedKeys([]) }
        if var bits = KeyBitmap(from: bounds.first, through: bounds.last, forKeys: lists.reduce(0) { $0 + $1.count }) {
            for list in lists { try bits.insert(list, within: budget) }
            return IndexedKeys(bits.keys)
        }
        var merged: [[ObjectKey]] = []
        for list in lists { merged.append(try list.all(within: budget)) }
        while merged.count > 1 {
            var half = stride(from: 0, to: merged.count - 1, by: 2).map { union(merged[$0], merged[$0 + 1]) }
            if merged.count % 2 == 1, let last = merged.last { half.append(last) }
            merged = half
        }
        return IndexedKeys(union(merged.first ?? [], []))
    }

    /// Returns the keys of two ascending lists, each once.
    private static func union(_ left: [ObjectKey], _ right: [ObjectKey]) -> [ObjectKey] {
        var union: [ObjectKey] = []
        union.reserveCapacity(left.count + right.count)
        var (first, second) = (0, 0)
        while first < left.count || second < right.count {
            let takesLeft = second == right.count || first < left.count && left[first] <= right[second]
            let key = takesLeft ? left[first] : right[second]
            if takesLeft { first += 1 } else { second += 1 }
            if union.last != key { union.append(key) }
        }
        return union
    }

    /// Returns the keys of this list that another list has, or those that it does not have.
    private func all(in other: IndexedKeys, arePresent: Bool) throws(StorageError) -> [ObjectKey] {
        var search = KeySearch(in: other)
        var found: [ObjectKey] = []
        for key in try all() where try search.has(key) == arePresent { found.append(key) }
        return found
    }
}
