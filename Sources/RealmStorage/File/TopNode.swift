// SPDX-License-Identifier: Apache-2.0

/// The root of one version of a file.
///
/// | slot | meaning |
/// |---|---|
/// | 0, 1 | table names, tables |
/// | 2 | logical file size in bytes |
/// | 3, 4, 5 | free blocks: offsets, lengths, versions |
/// | 6 | version |
/// | 7, 8, 9 | history: type, data, schema version |
/// | 10 | sync file id |
/// | 11 | progress of file shrinking, ignored |
///
/// Source: docs/format.md, "The top node".
package struct TopNode: Sendable {
    /// What slot 7 may say about the history of a file.
    package enum HistoryType: Int, Sendable {
        case none = 0
        case obsolete = 1
        case inFile = 2
        case syncClient = 3
        case syncServer = 4
    }

    /// The version of the history's own layout that SDKs expect of a local file.
    static let writtenHistorySchema: UInt64 = 1

    static let allowedSlotCounts: Set<Int> = [3, 5, 7, 9, 10, 11, 12]

    package let ref: Ref
    package let names: Ref
    package let tables: Ref
    package let logicalSize: UInt64
    package let freePositions: Ref
    package let freeLengths: Ref
    package let freeVersions: Ref
    package let version: UInt64
    package let historyType: Int
    package let history: Ref
    package let historySchemaVersion: UInt64
    package let syncFileID: UInt64
    /// How many slots are there; missing ones read as 0.
    package let slotCount: Int

    /// Reads the top node at `ref`; an empty database has `Ref.none`. `space` is the whole plain file.
    static func read(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> TopNode {
        ref.isNone ? TopNode(emptyDatabaseOf: space.limit) : try TopNode(ref, space)
    }

    private init(_ ref: Ref, _ space: NodeSpace) throws(StorageError) {
        self.ref = ref
        let node = try space.node(at: ref)
        guard node.hasRefs, !node.isInner, TopNode.allowedSlotCounts.contains(node.count) else {
            throw node.corrupt("a top node of \(node.count) slots")
        }
        slotCount = node.count
        names = try node.requiredRef(0, "table names")
        tables = try node.requiredRef(1, "tables")
        guard case .tagged(let size) = try node.slot(2) else {
            throw node.corrupt("the logical file size is not a number")
        }
        guard size <= space.limit else {
            throw node.corrupt("a logical file size of \(size) bytes in a file of \(space.limit)")
        }
        guard ref.rawValue + UInt64(node.byteCount) <= size else {
            throw node.corrupt("the top node lies outside the logical file of \(size) bytes")
        }
        logicalSize = size
        freePositions = try node.optionalRef(3, "free block positions")
        freeLengths = try node.optionalRef(4, "free block lengths")
        freeVersions = try node.optionalRef(5, "free block versions")
        version = try node.number(6, "version")
        historyType = Int(clamping: try node.number(7, "history type"))
        history = try node.optionalRef(8, "history")
        historySchemaVersion = try node.number(9, "history schema version")
        syncFileID = try node.number(10, "sync file id")
    }

    /// The same version with other tables, as a write transaction sees it.
    func with(names: Ref, tables: Ref) -> TopNode { TopNode(self, names: names, tables: tables) }

    private init(_ other: TopNode, names: Ref, tables: Ref) {
        ref = other.ref
        self.names = names
        self.tables = tables
        logicalSize = other.logicalSize
        freePositions = other.freePositions
        freeLengths = other.freeLengths
        freeVersions = other.freeVersions
        version = other.version
        historyType = other.historyType
        history = other.history
        historySchemaVersion = other.historySchemaVersion
        syncFileID = other.syncFileID
        slotCount = other.slotCount
    }

    private init(emptyDatabaseOf size: UInt64) {
        ref = .none
        names = .none
        tables = .none
        logicalSize = size
        freePositions = .none
        freeLengths = .none
        freeVersions = .none
        version = 0
        historyType = 0
        history = .none
        historySchemaVersion = 0
        syncFileID = 0
        slotCount = 0
    }
}
