// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A leaf of a cluster tree with the keys of its rows.
struct LeafRows {
    let table: FormerTable
    let node: RawNode
    /// The base of the keys.
    let offset: Int64
    /// The keys in the leaf, without the offset.
    let relativeKeys: [Int64]
    /// Whether the leaf and the nodes that its offset was read from are proved to be those of the version. Otherwise the
    /// offset, and with it every key, may be of another time.
    var isPlaced = true
    /// The nodes that its offset was read from, the top node of the table included.
    var path: [UInt64] = []
    /// The rows that are of interest; nil for all.
    var rows: Set<Int>?

    static let maximumCount = 256

    var count: Int { relativeKeys.count }
    var keys: [Int64] { relativeKeys.map { offset &+ $0 } }
    /// Whether the keys are in the leaf itself.
    var isCompact: Bool { node.slot(0) & 1 == 1 }

    /// Returns the ref of a column; nil when the leaf has none in that slot.
    func column(_ index: Int) -> UInt64? { node.child(index + 1) }
}
