// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Compares what two views show of a property whose links may be hidden.
///
/// A hidden link reads as null, or is left out, so a property that was written can be unchanged in the view.
struct ShownComparison {
    /// The view of the version before.
    let from: Snapshot
    /// The view of the version after, by the same scope.
    let to: Snapshot
    /// The deepest nesting of collections in Mixed; deeper ones exist in damaged files only.
    private static let maximumDepth = 128

    /// Returns whether both views show the same value of a property. It is false for properties whose links are never hidden.
    ///
    /// - Parameters:
    ///   - object: An object that both views show.
    /// - Throws: `StorageError` when the values cannot be read.
    /// - Complexity: Linear in the number of elements.
    func isSame(_ column: ColumnKey, of object: ObservedObject) throws(StorageError) -> Bool {
        guard let before = from.table(object.table), let after = to.table(object.table), let old = before.column(column),
            let new = after.column(column), old.type == new.type, old.collection == new.collection, mayHide(new),
            let oldRow = try before.find(object.key), let newRow = try after.find(object.key)
        else { return false }
        switch new.collection {
        case nil: return try isSame(try oldRow.value(old), try newRow.value(new), depth: 0)
        case .list, .set:
            guard try hiddenCount(old, oldRow, before, in: from) == hiddenCount(new, newRow, after, in: to) else { return false }
            return try isSame(try oldRow.list(old, in: from), try newRow.list(new, in: to), depth: 0)
        case .dictionary:
            return try isSame(try oldRow.dictionary(old, in: from), try newRow.dictionary(new, in: to), depth: 0)
        }
    }

    /// Returns whether links of a property may be hidden.
    private func mayHide(_ column: Column) -> Bool {
        switch column.type {
        case .mixed: return from.scope != nil || to.scope != nil
        case .link: return column.targetTable.map { from.mayHideObjects(of: $0) || to.mayHideObjects(of: $0) } ?? false
        default: return false
        }
    }

    /// Returns how many elements a view leaves out, which is shown of whole objects.
    private func hiddenCount(_ column: Column, _ row: Row, _ table: Table, in view: Snapshot) throws(StorageError) -> Int {
        guard table.kind != .embedded, let base = view.scope?.base, let whole = try base.table(table.key)?.find(row.key) else {
            return 0
        }
        return try whole.list(column, in: base).count - row.list(column, in: view).count
    }

    /// Returns whether two lists or sets have the same elements.
    private func isSame(_ old: ListView, _ new: ListView, depth: Int) throws(StorageError) -> Bool {
        guard old.count == new.count else { return false }
        var (olds, news) = (old.elements(), new.elements())
        while let left = try olds.next() {
            guard let right = try news.next(), try isSame(left, right, depth: depth) else { return false }
        }
        return true
    }

    /// Returns whether two dictionaries have the same entries in the same order.
    private func isSame(_ old: DictionaryView, _ new: DictionaryView, depth: Int) throws(StorageError) -> Bool {
        guard old.count == new.count else { return false }
        var (olds, news) = (old.entries(), new.entries())
        while let left = try olds.next() {
            guard let right = try news.next() else { return false }
            switch (left.key, right.key) {
            case (.text(let one), .text(let other)): guard one == other else { return false }
            case (.integer(let one), .integer(let other)): guard one == other else { return false }
            default: return false
            }
            guard try isSame(left.value, right.value, depth: depth) else { return false }
        }
        return true
    }

    /// Returns whether two values are the same, with what they contain.
    private func isSame(_ old: Value, _ new: Value, depth: Int) throws(StorageError) -> Bool {
        guard depth < ShownComparison.maximumDepth else { return false }
        switch (old, new) {
        case (.list(let one), .list(let other)):
            return try isSame(
                try ListView(nested: one, space: from.space), try ListView(nested: other, space: to.space), depth: depth + 1)
        case (.dictionary(let one), .dictionary(let other)):
            return try isSame(
                try DictionaryView(root: one, space: from.space, fileFormat: from.fileFormat),
                try DictionaryView(root: other, space: to.space, fileFormat: to.fileFormat), depth: depth + 1)
        default: return old.isIdentical(to: new)
        }
    }
}
