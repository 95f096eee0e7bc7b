// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// The objects of one version that their contents identify, as numbers from 0.
struct ContentNodes {
    /// The number of objects at most, of which each takes about 60 bytes.
    static let limit = 1 << 23

    /// The objects of a class, in the order of their keys.
    struct Class {
        let objectClass: ComparedClass
        let table: Table
        /// The number of the first object.
        let first: Int
        let keys: [ObjectKey]
        /// Whether objects may link to others that their contents identify.
        let mayLink: Bool

        /// The numbers of the objects.
        var range: Range<Int> { first..<(first + keys.count) }
    }

    /// The classes in the order of their names.
    let classes: [Class]
    private let positions: [TableKey: Int]
    /// The number of objects.
    let count: Int

    /// Numbers the objects of a version.
    ///
    /// - Parameters:
    ///   - table: Returns the table of a class in the version.
    ///   - target: Returns the class of a table in the version.
    /// - Throws: An error of storage, or a limit when there are too many.
    init(
        _ classes: [ComparedClass], _ budget: WorkBudget, table: (ComparedClass) -> Table?, target: (TableKey) -> ComparedClass?
    ) throws(StorageError) {
        var found: [Class] = []
        var count = 0
        for one in classes where one.isByContents {
            guard let table = table(one) else { continue }
            var keys: [ObjectKey] = []
            var walk = try RowWalk(table)
            while let row = walk.row {
                try budget.spend()
                guard count + keys.count < ContentNodes.limit else {
                    throw .limit("more than \(ContentNodes.limit) objects without a primary key to compare by their contents")
                }
                keys.append(row.key)
                try walk.skip()
            }
            var visited: Set<TableKey> = []
            let mayLink = ContentNodes.mayLink(table, target, &visited)
            found.append(Class(objectClass: one, table: table, first: count, keys: keys, mayLink: mayLink))
            count += keys.count
        }
        self.classes = found
        self.count = count
        positions = Dictionary(found.enumerated().map { ($1.table.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns whether objects of a table, or embedded in them, may link to objects that contents identify.
    private static func mayLink(
        _ table: Table, _ target: (TableKey) -> ComparedClass?, _ visited: inout Set<TableKey>
    ) -> Bool {
        guard visited.insert(table.key).inserted else { return false }
        for column in table.columns {
            if column.type == .mixed { return true }
            guard column.type == .link, let key = column.targetTable, let one = target(key) else { continue }
            if one.isByContents { return true }
            for inner in [one.old?.table, one.new?.table] {
                guard let inner, inner.kind == .embedded, inner.key == key else { continue }
                if mayLink(inner, target, &visited) { return true }
            }
        }
        return false
    }

    /// Returns the number of an object; nil for one that something else identifies.
    func number(_ table: TableKey, _ key: ObjectKey) -> Int? {
        guard let position = positions[table] else { return nil }
        let one = classes[position]
        var (low, high) = (0, one.keys.count)
        while low < high {
            let middle = (low + high) / 2
            if one.keys[middle].isBefore(key) { low = middle + 1 } else { high = middle }
        }
        return low < one.keys.count && one.keys[low] == key ? one.first + low : nil
    }

    func object(_ number: Int) -> (objectClass: Class, key: ObjectKey) {
        var (low, high) = (0, classes.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if classes[middle].first <= number { low = middle } else { high = middle }
        }
        return (classes[low], classes[low].keys[number - classes[low].first])
    }
}
