// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the objects of a class by their primary keys: through the index, or in old files without one through a sorted list.
final class KeyFinder {
    /// The number of objects that a list has at most, with 16 bytes each.
    private static let limit = 1 << 23

    private struct Entry {
        let hash: Int
        let key: ObjectKey
    }

    private let table: Table
    /// The objects in the order of the hashes of their primary keys; nil until it is needed.
    private var list: [Entry]?

    init(_ table: Table) { self.table = table }

    /// Returns the object with a primary key; nil when there is none.
    ///
    /// - Throws: An error of storage, or a limit when there are too many objects for a list.
    /// - Complexity: O(log n), and O(n log n) for the first object in a class without an index.
    func find(_ value: Value) throws(StorageError) -> Row? {
        guard let column = table.primaryKey else { return nil }
        if column.hasSearchIndex { return try table.findByPrimaryKey(value) }
        let list = try entries(column)
        let hash = KeyFinder.hash(value)
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].hash < hash { low = middle + 1 } else { high = middle }
        }
        while low < list.count, list[low].hash == hash {
            if let row = try table.find(list[low].key), try row.value(column).isIdentical(to: value) { return row }
            low += 1
        }
        return nil
    }

    private func entries(_ column: Column) throws(StorageError) -> [Entry] {
        if let list { return list }
        guard table.count <= KeyFinder.limit else {
            throw .limit("'\(table.className ?? "")' has more than \(KeyFinder.limit) objects and no index of its primary key")
        }
        var entries: [Entry] = []
        var cursor = table.leaves()
        while let leaf = try cursor.next() {
            let values = try leaf.attach(column)
            for row in 0..<leaf.count {
                entries.append(Entry(hash: KeyFinder.hash(try values.value(row)), key: leaf.key(at: row)))
            }
        }
        entries.sort { ($0.hash, $0.key.rawValue) < ($1.hash, $1.key.rawValue) }
        list = entries
        return entries
    }

    private static func hash(_ value: Value) -> Int {
        var hasher = Hasher()
        switch value {
        case .int(let number): hasher.combine(number)
        case .string(let bytes): hasher.combine(bytes)
        case .objectID(let id): hasher.combine(id)
        case .uuid(let id): hasher.combine(id)
        default: hasher.combine(0)
        }
        return hasher.finalize()
    }
}
