// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

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
    /// The kinds of history that slot 7 can name.
    package enum HistoryType: Int, Sendable {
        /// The file has no history of changes.
        case none = 0
        /// A history outside of the file, which present SDKs do not keep.
        case obsolete = 1
        /// A history of changes in the file itself, as SDKs keep it for local realms.
        case inFile = 2
        /// The history of a client of a sync server.
        case syncClient = 3
        /// The history of a sync server.
        case syncServer = 4
    }

    /// The version of the history's own layout that SDKs expect of a local file.
    package static let writtenHistorySchema: UInt64 = 1

    /// How many slots top nodes of released writers have.
    static let allowedSlotCounts: Set<Int> = [3, 5, 7, 9, 10, 11, 12]

    /// The place of the top node; `Ref.none` in an empty database.
    package let ref: Ref
    /// The node with the table names, one per position in the list of tables.
    package let names: Ref
    package let tables: Ref
    /// The logical size of the file in bytes: bytes after it do not belong to this version.
    package let logicalSize: UInt64
    /// The node with the offsets of free blocks, in ascending order.
    package let freePositions: Ref
    /// The list of lengths of free blocks, with as many entries as the list of offsets.
    package let freeLengths: Ref
    /// The list of versions that released the blocks; missing in files that were never shared.
    package let freeVersions: Ref
    /// The number of this version, counted from 1; 0 when the file does not state it.
    package let version: UInt64
    /// The number of this version; nil when the file does not state it.
    package var statedVersion: UInt64? { slotCount > 6 ? version : nil }
    /// The number of the kind of history; see `HistoryType`.
    package let historyType: Int
    /// The root of the history's data, which this program does not read.
    package let history: Ref
    /// The version of the layout of the history's data.
    package let historySchemaVersion: UInt64
    /// The id of the file in a synchronized realm.
    package let syncFileID: UInt64
    /// The id of the file in a synchronized realm; nil when the file does not state it.
    package var statedSyncFileID: UInt64? { slotCount > 10 ? syncFileID : nil }
    /// How many slots the node has; missing ones read as 0.
    package let slotCount: Int

    /// Reads the top node at `ref`, which is `Ref.none` in an empty database.
    ///
    /// - Parameters:
    ///   - ref: The top ref of the header.
    ///   - space: The whole plain file.
    /// - Throws: `.corrupt` for a node of another shape, or a logical size beyond the file.
    package static func read(_ ref: Ref, _ space: NodeSpace) throws(StorageError) -> TopNode {
        ref.isNone ? TopNode(emptyDatabaseOf: space.limit) : try TopNode(ref, space)
    }

    /// Reads and checks the slots; throws `.corrupt` for impossible ones.
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

    /// Returns how many bytes of a version are in use: its logical size without its free blocks.
    ///
    /// - Parameter space: The nodes of the version.
    /// - Throws: `.corrupt` when the list of free blocks cannot be read.
    /// - Complexity: Linear in the number of free blocks.
    package func usedByteCount(in space: NodeSpace) throws(StorageError) -> Int {
        let size = Int(clamping: logicalSize)
        guard !freeLengths.isNone else { return size }
        let lengths = try space.node(at: freeLengths).integers()
        var free = 0
        for index in 0..<lengths.count { free = min(size, free + Int(clamping: max(0, min(lengths[index], Int64(size))))) }
        return size - free
    }

    /// Returns the same version with other tables, which is the state of a write transaction.
    func with(names: Ref, tables: Ref) -> TopNode { TopNode(self, names: names, tables: tables) }

    /// The same version without its free lists.
    var withoutFreeLists: TopNode { TopNode(self, names: names, tables: tables, hasFreeLists: false) }

    /// Whether this program has written the version: it keeps no history in the file, in which it says there is one.
    var isWrittenHere: Bool {
        slotCount >= 11 && historyType == HistoryType.inFile.rawValue && history.isNone && version > 0 && !freeVersions.isNone
            && freePositions.rawValue < freeLengths.rawValue && freeLengths.rawValue < freeVersions.rawValue
            && freeVersions.rawValue < ref.rawValue
    }

    /// Makes a copy of a top node with other tables.
    private init(_ other: TopNode, names: Ref, tables: Ref, hasFreeLists: Bool = true) {
        ref = other.ref
        self.names = names
        self.tables = tables
        logicalSize = other.logicalSize
        freePositions = hasFreeLists ? other.freePositions : .none
        freeLengths = hasFreeLists ? other.freeLengths : .none
        freeVersions = hasFreeLists ? other.freeVersions : .none
        version = other.version
        historyType = other.historyType
        history = other.history
        historySchemaVersion = other.historySchemaVersion
        syncFileID = other.syncFileID
        slotCount = other.slotCount
    }

    /// Makes the root of a database in which nothing was ever written.
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

extension TopNode {
    /// Throws `.refused` for a history that this program cannot continue.
    ///
    /// - Parameter isDropped: Whether any history may be dropped, as in a copy.
    package func requireWritableHistory(isDropped: Bool = false) throws(StorageError) {
        guard !isDropped else { return }
        switch HistoryType(rawValue: historyType) {
        case .none?: return
        case .inFile?:
            guard historySchemaVersion <= TopNode.writtenHistorySchema else {
                throw .refused(.unsuitable("the history of the file has layout \(historySchemaVersion), which is unknown"))
            }
        case .syncClient?, .syncServer?: throw .refused(.synchronized)
        case .obsolete?, nil:
            throw .refused(.unsuitable("the history of the file is of type \(historyType), which is unknown"))
        }
    }
}
