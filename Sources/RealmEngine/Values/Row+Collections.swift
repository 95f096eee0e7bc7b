// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

extension Row {
    /// The list or set that a property of this object holds.
    package func list(_ column: Column, in snapshot: Snapshot) throws(StorageError) -> ListView {
        let hasTombstones = column.targetTable.flatMap { snapshot.table($0)?.hasTombstones } ?? false
        return try ListView(
            root: try leaf.collectionRoot(column, row: index), space: leaf.space, shape: column.elementShape,
            mayHoldUnresolved: hasTombstones)
    }

    /// The dictionary that a property of this object holds.
    package func dictionary(_ column: Column, in snapshot: Snapshot) throws(StorageError) -> DictionaryView {
        try DictionaryView(
            root: try leaf.collectionRoot(column, row: index), space: leaf.space, keyType: column.dictionaryKeyType,
            fileFormat: snapshot.fileFormat)
    }
}
