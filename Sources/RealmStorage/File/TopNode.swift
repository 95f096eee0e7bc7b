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
        /// There is no history.
        case none = 0
        /// A history outside of the file, which no SDK keeps any more.
        case obsolete = 1
        /// A history of changes in the file itself, as SDKs keep it for local realms.
        case inFile = 2
        /// The history of a client of a sync server.
        case syncClient = 3
        /// The history of a sync server.
        case syncServer = 4
    }

    /// The version of the history's own layout that SDKs expect of a local file.
    static let writtenHistorySchema: UInt64 = 1

    /// How many slots top nodes of released writers have.
    static let allowedSlotCounts: Set<Int> = [3, 5, 7, 9, 10, 11, 12]

    /// Where the top node lies; `Ref.none` in an empty database.
    package let ref: Ref
    /// The list of table names.
    package let names: Ref
    /// The list of tables.
    package let tables: Ref
    /// The logical size of the file in bytes: nothing beyond it belongs to this version.
    package let logicalSize: UInt64
    /// The list of offsets of free blocks.
    package let freePositions: Ref
    /// The list of lengths of free blocks, with as many entries.
    package let freeLengths: Ref
    /// The list of versions that released the blocks; missing in files that were never shared.
    package let freeVersions: Ref
    /// The number of this version, counted from 1; 0 when the file does not say.
    package let version: UInt64
    /// What kind of history there is; see `HistoryType`.
    package let historyType: Int
    /// The root of the history.
    package let history: Ref
    /// The layout of the history.
    package let historySchemaVersion: UInt64
    /// The id of the file in a synchronised realm.
    package let syncFileID: UInt64
    /// How many slots are there; missing ones read as 0.
    package let slotCount: Int

    /// Reads the top node at `ref`; an empty database has `Ref.none`. `space` is the whole plain file.
    static func read(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> TopNode {
        ref.isNone ? TopNode(emptyDatabaseOf: space.limit) : try TopNode(ref, space)
    }

    /// Reads and checks the slots. Throws `.corrupt`.
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

    /// A copy with other tables.
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

    /// The root of a database in which nothing was ever written.
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
