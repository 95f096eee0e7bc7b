// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

extension Column {
    /// The dictionary of a row of `table`; nil when it never held an entry.
    func dictionary(_ row: borrowing Row, _ reader: ColumnReader, _ table: Table) throws(StorageError) -> DictionaryView? {
        let root = try reader.root(row)
        guard !root.isNone else { return nil }
        return try DictionaryView(
            root: root, space: row.leaf.space, keyType: dictionaryKeyType, fileFormat: table.fileFormat)
    }
}
