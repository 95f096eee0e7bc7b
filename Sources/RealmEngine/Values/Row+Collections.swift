// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

extension Row {
    /// Returns the list or set that a property of this object contains.
    ///
    /// - Parameters:
    ///   - column: A list or set column of this object's table.
    ///   - snapshot: The version that this row belongs to.
    /// - Throws: `StorageError` when the root of the collection is damaged.
    package func list(_ column: Column, in snapshot: Snapshot) throws(StorageError) -> ListView {
        let hasTombstones = column.targetTable.map { snapshot.hasTombstones($0) } ?? false
        return try ListView(
            root: try leaf.collectionRoot(column, row: index), space: leaf.space, shape: column.elementShape,
            mayHoldUnresolved: hasTombstones)
    }

    /// Returns the dictionary that a property of this object contains.
    ///
    /// - Parameters:
    ///   - column: A dictionary column of this object's table.
    ///   - snapshot: The version that this row belongs to.
    /// - Throws: `StorageError` when the root of the collection is damaged.
    package func dictionary(_ column: Column, in snapshot: Snapshot) throws(StorageError) -> DictionaryView {
        try DictionaryView(
            root: try leaf.collectionRoot(column, row: index), space: leaf.space, keyType: column.dictionaryKeyType,
            fileFormat: snapshot.fileFormat)
    }
}
