// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The objects of a page, in their order.
///
/// In the order of object keys they are rows of leaves, from which they are read where they are
/// stored. In any other order they are object keys.
struct PageRows {
    /// The way of finding the objects: as rows of leaves, or by keys.
    private enum Source {
        /// Rows of leaves, in ascending order. Each mask has the rows of one leaf.
        case leaves([(leaf: ClusterLeaf, rows: Mask)])
        /// Object keys, in the order of the page.
        case keys(ArraySlice<ObjectKey>)
    }

    /// The source of the objects. It may have more objects than `count`.
    private let source: Source

    let count: Int

    init(leaves: [(leaf: ClusterLeaf, rows: Mask)]) {
        source = .leaves(leaves)
        count = leaves.reduce(0) { $0 + $1.rows.count }
    }

    init(keys: ArraySlice<ObjectKey>) {
        source = .keys(keys)
        count = keys.count
    }

    /// Creates a page of the first `count` objects of a source.
    private init(_ source: Source, count: Int) {
        self.source = source
        self.count = count
    }

    /// A page without objects.
    static let none = PageRows(keys: [])

    /// Returns the first objects of the page, at most `limit`.
    func prefix(_ limit: Int) -> PageRows { count <= limit ? self : PageRows(source, count: limit) }

    /// The number of written objects of a page, and the last of them.
    struct Progress {
        /// The number of finished objects, including those that no longer exist.
        var written = 0
        /// The last object that was passed to the closure and accepted; nil for none.
        var last: Row?
    }

    /// Calls a function with each object in order, until it returns false.
    ///
    /// - Parameters:
    ///   - body: Writes one object. It returns false when there was no room for it.
    /// - Returns: The number of finished objects. A key without an object counts as done.
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
