// SPDX-License-Identifier: Apache-2.0

/// Collections and incoming links of single objects.
extension ClusterLeaf {
    /// The incoming links of `row` through a backlink column.
    package func backlinks(_ column: Column, row: Int) throws(StorageError) -> BacklinkView {
        try BacklinkView(try attachRefs(column).slot(row), space)
    }

    /// The root of the collection that `row` holds, `Ref.none` when it is empty.
    package func collectionRoot(_ column: Column, row: Int) throws(StorageError) -> Ref {
        try attachRefs(column).optionalRef(row, "collection in column '\(column.name)'")
    }
}
