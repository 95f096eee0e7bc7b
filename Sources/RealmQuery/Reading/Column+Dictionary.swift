// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Column {
    /// Returns the dictionary that an object holds in this column.
    ///
    /// - Parameters:
    ///   - row: An object of `table`.
    ///   - reader: The reader of this column, which keeps the leaf.
    /// - Returns: The dictionary, or nil when it never held an entry.
    /// - Throws: A storage error when the file is damaged.
    func dictionary(_ row: borrowing Row, _ reader: ColumnReader, _ table: Table) throws(StorageError) -> DictionaryView? {
        let root = try reader.root(row)
        guard !root.isNone else { return nil }
        return try DictionaryView(
            root: root, space: row.leaf.space, keyType: dictionaryKeyType, fileFormat: table.fileFormat)
    }
}
