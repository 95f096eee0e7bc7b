// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// The objects of a page in their order: as they lie in the leaves where they come in object order, else by their keys.
struct PageRows {
    private enum Source {
        case leaves([(leaf: ClusterLeaf, rows: Mask)])
        case keys(ArraySlice<ObjectKey>)
    }

    private let source: Source

    /// How many objects there are, those that are left out by `prefix` not counted.
    let count: Int

    init(leaves: [(leaf: ClusterLeaf, rows: Mask)]) {
        source = .leaves(leaves)
        count = leaves.reduce(0) { $0 + $1.rows.count }
    }

    init(keys: ArraySlice<ObjectKey>) {
        source = .keys(keys)
        count = keys.count
    }

    private init(_ source: Source, count: Int) {
        self.source = source
        self.count = count
    }

    static let none = PageRows(keys: [])

    /// The first `limit` objects.
    func prefix(_ limit: Int) -> PageRows { count <= limit ? self : PageRows(source, count: limit) }

    /// How far `write` came.
    struct Progress {
        /// Objects that are done.
        var written = 0
        /// The last of them.
        var last: Row?
    }

    /// Calls `body` with one object after the other until it returns false. An object that is gone counts as done.
    func write(
        of table: Table, _ body: (Row) throws(StorageError) -> Bool
    ) throws(StorageError) -> Progress {
        var progress = Progress()
        switch source {
        case .leaves(let leaves):
            for (leaf, rows) in leaves {
                var rest = rows
                while progress.written < count, let index = rest.first {
                    let row = Row(leaf: leaf, index: index)
                    guard try body(row) else { return progress }
                    rest[index] = false
                    progress.written += 1
                    progress.last = row
                }
            }
        case .keys(let keys):
            let finder = ObjectFinder(table)
            for key in keys.prefix(count) {
                if let row = try finder.find(key) {
                    guard try body(row) else { return progress }
                    progress.last = row
                }
                progress.written += 1
            }
        }
        return progress
    }
}
