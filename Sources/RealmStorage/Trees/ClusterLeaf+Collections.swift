// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Access to the collections and incoming links of single objects.
extension ClusterLeaf {
    /// Returns the incoming links of the object in `row` through a backlink column.
    ///
    /// - Throws: `.corrupt` for a damaged column.
    package func backlinks(_ column: Column, row: Int) throws(StorageError) -> BacklinkView {
        try BacklinkView(try attachRefs(column).slot(row), space, from: column.targetTable ?? .null)
    }

    /// Returns the root of the collection that the object in `row` holds, `Ref.none` when it is
    /// empty.
    ///
    /// - Throws: `.corrupt` when the column does not hold refs.
    package func collectionRoot(_ column: Column, row: Int) throws(StorageError) -> Ref {
        try attachRefs(column).optionalRef(row, "collection in column '\(column.name)'")
    }
}
