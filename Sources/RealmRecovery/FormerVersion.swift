// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A version that a top node leads to: a former one, an unfinished one, or the present one.
final class FormerVersion {
    /// The way the top node was found.
    enum Source: String {
        /// The selected slot of the header names it.
        case present
        /// The other slot of the header names it.
        case header
        /// It was found in unused space.
        case scan
    }

    /// The completeness of a version.
    enum State: String {
        /// Every node is proved to be untouched.
        case whole
        /// Every node can be read, and some are not proved.
        case consistent
        /// Some nodes are gone.
        case partial
        /// The list of tables is gone.
        case topOnly = "top only"
    }

    /// The top node.
    let top: FormerTop
    let source: Source
    /// Whether it never counted: its number is above the present one, or the present one's at another place.
    let isUnfinished: Bool
    /// Whether another top has the same number, so that neither dates anything.
    var isTwin = false

    /// Reads nodes as this version would have had them.
    var reader: NodeReader
    /// The tables that can be opened.
    var tables: [FormerTable] = []
    /// The number of tables that cannot be opened.
    var lostTableCount = 0
    /// Whether leaves could not be reached.
    var hasGaps = false
    /// The leaves with rows that are not of the present version alone.
    var leaves: [LeafRows] = []
    /// The sizes of all leaves, those that are shared with the present version included.
    var leafSizes = LeafPlace.Sizes()
    /// The nodes outside of the present version that can be reached.
    var nodes: [SpaceMap.NodeExtent] = []
    /// The number of all nodes that can be reached.
    var nodeCount = 0
    /// The number of nodes that could not be reached or were used again.
    var lostCount = 0
    /// The number of nodes that are not proved to be untouched.
    var unprovenCount = 0
    /// The nodes that are something else in a later version.
    var refused: Set<UInt64> = []
    /// The nodes of cluster trees that are shared with the present version.
    var sharedClusters: Set<UInt64> = []
    /// The places of embedded objects in `leaves`.
    var embeddedRows: [ObjectPlace: (leaf: Int, row: Int)] = [:]
    /// The columns of embedded objects that were decoded, by leaf and column.
    var decodedColumns: [DecodedColumn.Place: DecodedColumn] = [:]

    var number: UInt64 { top.number }

    init(_ top: FormerTop, _ source: Source, isUnfinished: Bool, reader: NodeReader) {
        self.top = top
        self.source = source
        self.isUnfinished = isUnfinished
        self.reader = reader
    }

    var state: State {
        if tables.isEmpty, lostCount > 0 { return .topOnly }
        if lostCount > 0 { return .partial }
        return unprovenCount > 0 ? .consistent : .whole
    }

    /// Returns the table with a key; nil when it cannot be opened in this version.
    func table(_ key: UInt32) -> FormerTable? { tables.first { $0.key == key } }
}
