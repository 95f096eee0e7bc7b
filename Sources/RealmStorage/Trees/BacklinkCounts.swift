// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The numbers of incoming links of the objects of one cluster leaf through one backlink column, attached once.
package struct BacklinkCounts: Sendable {
    /// The values of the column for each object.
    private let slots: Node
    /// The space that the trees of links are read in.
    private let space: NodeSpace
    /// The table that the links come from.
    private let origin: TableKey
    /// Whether a view hides some of the links, so that they are looked at one by one.
    private let mayHide: Bool

    /// Attaches the column; throws `.corrupt` when it does not belong to the leaf.
    package init(_ column: Column, _ leaf: ClusterLeaf) throws(StorageError) {
        slots = try leaf.attachRefs(column)
        space = leaf.space
        origin = column.targetTable ?? .null
        mayHide = leaf.space.mayHideLinks(to: origin)
    }

    /// The number of links to the object in `row`, which the leaf has; throws `.corrupt` for a damaged tree.
    package subscript(row: Int) -> Int {
        get throws(StorageError) {
            let slot = try slots.rawSlot(row)
            if !mayHide, slot & 1 == 1 || slot == 0 { return Int(slot & 1) }
            if !mayHide, let count = try BPlusTree.plainCount(Ref(slot), space, BacklinkCounts.shape) { return count }
            return try BacklinkView(try slots.slot(row), space, from: origin).count
        }
    }

    /// The type of the keys of origins.
    private static let shape = ElementShape(type: .int, isNullable: false)
}
