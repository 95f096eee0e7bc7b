// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Turns the new nodes of a transaction into the next version of a file.
///
/// 1. Nodes, free lists and top node are written to free space, which no version in use or durable
///    needs.
/// 2. The top ref is written to the header slot that is not selected. Sync.
/// 3. One bit of the header selects that slot. Sync. Only then the commit has happened.
///
/// A crash before step 3 leaves the old version, one after it the new one, and nothing needs repair. A write that the disk
/// rejects leaves everything as it was, also that of step 3 when reading its byte back shows the old one. Otherwise, and after an
/// error in any sync, the state of the disk is unknown: more commits are rejected until the file is opened again. In an encrypted
/// file they are also rejected after a write that may have replaced a page in use. Source: docs/format.md, "Commits".
///
/// A commit that a log has stored, which survives without the file, is written to the file without the second sync: the next
/// commit's first sync makes it durable there, too. Until then nothing overwrites what the version before uses. Both syncs of
/// one commit become one, which is done while the log stores the record. Of an encrypted file nothing is written before a sync,
/// and page 0 is written as a whole, so its commits keep the order above whatever the log does.
///
/// `@unchecked Sendable`: used by the thread that holds the write transaction.
package final class Committer: @unchecked Sendable {
    /// The durable version, from which the next one is made.
    struct State {
        var header: FileHeader
        /// Byte 23 of the header, whose lowest bit selects a slot.
        var flags: UInt8
        /// The top node of the version.
        var top: TopNode
        /// The free space of the version; nil after a record was applied, until a commit needs it.
        var free: FreeSpace?

        /// The number of the version, counted from 1.
        var version: UInt64 { max(top.version, 1) }
    }

    /// The plain bytes of the file that commits are written to.
    let data: DataFile
    /// The newest version. It belongs to the thread that writes.
    var state: State
    /// The version that the header of the file selects. Only while records are applied it is behind the newest one. It belongs to
    /// the thread that writes.
    private(set) var selectedVersion: UInt64
    /// The version that the disk has at least; that of a file that is opened was synced before. It belongs to the thread that writes.
    private(set) var durableVersion: UInt64
    /// Where the record of a commit goes, and what the commit did.
    struct Logging {
        /// Keeps the records.
        let log: any CommitLog
        let notes: CommitNotes
    }

    /// The offset of the byte in the header that selects one of its slots.
    static let flagsOffset = CommitRecord.Flip.offset
    /// The path of the file; empty for a realm in memory.
    private let path: String
    /// The versions in use, whose nodes commits must not overwrite.
    let pins: VersionPins
    /// Notices changes that other programs make to the file; nil for realms in memory.
    let witness: FileWitness?
    /// The versions before the newest one, as far as they are kept.
    let former: FormerVersions

    /// Makes a committer that continues from the version of `snapshot`, whose free space is read.
    ///
    /// - Parameter retention: The former versions to keep.
    /// - Throws: `.corrupt` when the free lists are damaged.
    init(
        _ data: DataFile, _ snapshot: Snapshot, pins: VersionPins, witness: FileWitness? = nil, retention: Retention = .none
    ) throws(StorageError) {
        self.data = data
        self.pins = pins
        self.witness = witness
        path = snapshot.file.path
        former = try FormerVersions(before: snapshot, retention)
        let flags = try data.plain.view(at: 0, byteCount: FileHeader.byteCount)[Committer.flagsOffset]
        state = State(
            header: snapshot.file.header, flags: flags, top: snapshot.top,
            free: try FreeSpace(snapshot.top, snapshot.space, keeping: retention.keepsAny ? former.oldest : nil))
        selectedVersion = state.version
        durableVersion = state.version
    }

    /// Makes the next version, and returns it once it is durable.
    ///
    /// - Parameters:
    ///   - nodes: The nodes of a transaction that started from `previous`.
    ///   - previous: The newest version.
    ///   - logging: The destination of the record of the commit, and its notes; nil without records.
    /// - Throws: `.refused` when commits are not possible or the file was changed by another
    ///   program, `.io` when the disk rejects a write, `.corrupt` when the new version cannot be
    ///   read back, and what the log throws.
    func commit(
        _ nodes: WriteSpace, names: Ref, tables: Ref, previous: Snapshot, logging: Logging? = nil
    ) throws(StorageError) -> Snapshot {
        guard !data.isUncertain else { throw .refused(.writesStopped) }
        try witness?.beginWriting()
        let snapshot: Snapshot
        do throws(StorageError) {
            snapshot = try makeDurable(nodes, names: names, tables: tables, previous: previous, logging)
        } catch {
            try? witness?.abandonWriting(byteCount: data.backend.byteCount, data.mappedHead())
            throw error
        }
        // This check shows that the durable version is in the file that other programs find at the path.
        try witness?.endWriting(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
        return snapshot
    }

    /// Makes sure that the disk has the newest version.
    func settle() throws(StorageError) {
        try selectNewest()
        if durableVersion < state.version { try syncWritten() }
    }

    /// Makes sure that the header of the file selects the newest version, whose nodes the disk has then.
    func selectNewest() throws(StorageError) {
        guard selectedVersion < state.version else { return }
        try syncWritten()
        try select(state.header, flags: state.flags)
        selectedVersion = state.version
        if data.isEncrypted { durableVersion = selectedVersion }
    }

    private func syncWritten() throws(StorageError) {
        try data.sync()
        durableVersion = selectedVersion
    }

    /// Writes the nodes, the free header slot and the selecting bit, with syncs in the order that
    /// makes every crash leave one version or the other.
    private func makeDurable(
        _ nodes: WriteSpace, names: Ref, tables: Ref, previous: Snapshot, _ logging: Logging?
    ) throws(StorageError) -> Snapshot {
        let survives = logging?.log.isDurable == true && !data.isEncrypted
        // The slot that is not selected may be that of a version which the disk goes back to.
        if survives { try selectNewest() } else { try settle() }
        let free: FreeSpace
        let snapshot: Snapshot
        let record: CommitRecord?
        let freed = try freedBlocks(nodes)
        if let logging { data.beginRecording(limit: logging.log.maximumByteCount) }
        defer { if logging != nil { _ = data.endRecording() } }
        do throws(StorageError) {
            // The versions from here on are kept; the nodes of older ones may be overwritten. The former ones come first, because
            // their readers pin a version before they look for it. Those that this commit drops are overwritten by the next one: if
            // this one is cut short, the version that remains still lists them.
            let listed = former.retention.keepsAny ? former.oldest : nil
            let kept = former.trim(adding: freed.byteCount, logicalSize: Int(clamping: state.top.logicalSize))
            let read = min(pins.oldest ?? state.version, state.version, durableVersion)
            let oldest = min(read, listed ?? read, kept ?? read)
            let written = try write(nodes, names: names, tables: tables, after: previous, freed, keeping: oldest, reading: read)
            free = written.free
            let header = FileHeader(selectedSlot: 1 - state.header.selectedSlot, topRef: written.top)
            snapshot = try makeSnapshot(header, previous, version: state.version + 1)
            if survives { header.slot.forEach { data.record($0.bytes, at: $0.offset) } } else { try write(header.slot) }
            if !survives { try syncWritten() }
            // The next byte must not go into another program's file.
            try witness?.requireOwn(byteCount: data.backend.byteCount, bytes: data.head, data.mappedHead())
            record = logging.map { makeRecord($0.notes, snapshot, header, horizon: oldest - 1) }
            if let logging, let record { try store(record, logging.log, syncing: survives) }
        } catch {
            data.forgetChanges()
            if error.leavesFileBehind { data.markBehind() }
            throw error
        }
        try publish(record, logging) { () throws(StorageError) in
            guard survives else { return try data.publish(state.flags ^ 1, insteadOf: state.flags, at: Committer.flagsOffset) }
            try select(snapshot.file.header, flags: state.flags ^ 1)
        }
        former.add(state.top, byteCount: freed.byteCount, snapshot.file)
        state = State(header: snapshot.file.header, flags: state.flags ^ 1, top: snapshot.top, free: free)
        selectedVersion = state.version
        if !survives { durableVersion = state.version }
        return snapshot
    }

    /// Stores a record, and syncs what was written meanwhile if that has not been done before.
    private func store(_ record: CommitRecord, _ log: any CommitLog, syncing: Bool) throws(StorageError) {
        guard syncing else { return try log.append(record) }
        var failure: StorageError?
        try log.append(record) {
            do throws(StorageError) { try syncWritten() } catch { failure = error }
        }
        guard let failure else { return }
        if !log.takeBack(record) { data.markBehind() }
        throw failure
    }

    /// Selects the new version. When the file refuses that, the log has to give the record of it up; if it does not, the commit
    /// counts, and the file is behind until it is opened again.
    private func publish(
        _ record: CommitRecord?, _ logging: Logging?, _ select: () throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) {
            try select()
        } catch {
            if let logging, let record, !logging.log.takeBack(record) { data.markBehind() }
            throw error
        }
        if let logging, let record { logging.log.didCommit(record) }
    }

    /// Makes the record of the commit of which everything but the last byte is durable.
    private func makeRecord(
        _ notes: CommitNotes, _ snapshot: Snapshot, _ header: FileHeader, horizon: UInt64
    ) -> CommitRecord {
        CommitRecord(
            version: snapshot.version, previousVersion: state.version, time: WallClock.now().nanoseconds, horizon: horizon,
            logicalSize: Int(clamping: snapshot.top.logicalSize), physicalSize: data.plainByteCount, topRef: header.topRef,
            flip: CommitRecord.Flip(old: state.flags, new: state.flags ^ 1), extents: data.endRecording(), notes: notes)
    }

    /// Reads the new version as readers will see it, before it is durable: a version that cannot be read is not committed.
    func makeSnapshot(_ header: FileHeader, _ previous: Snapshot, version: UInt64) throws(StorageError) -> Snapshot {
        let file = RealmFile(path: path, header: header, plain: data.plain, fileByteCount: data.backend.byteCount)
        return try Snapshot(
            file: file, clusterShift: previous.clusterShift, previous: previous, pin: pins.pin(version))
    }

    // MARK: - Nodes

    /// Writes all new nodes, the free lists and the top node.
    ///
    /// - Parameters:
    ///   - nodes: The nodes of the transaction.
    ///   - previous: The newest version.
    ///   - freed: The space that the new version does not use.
    ///   - oldest: The oldest version whose nodes are not overwritten.
    ///   - read: The oldest version whose free lists are not overwritten.
    /// - Returns: The ref of the top node, and the free space after the commit.
    private func write(
        _ nodes: WriteSpace, names: Ref, tables: Ref, after previous: Snapshot, _ freed: Freed, keeping oldest: UInt64,
        reading read: UInt64
    ) throws(StorageError) -> (top: Ref, free: FreeSpace) {
        var free = try freeSpace(after: previous)
        free.release(upTo: oldest, lists: read)
        try free.requireInUse(freed.blocks)
        try free.requireInUse(freed.lists)
        data.setDisposable(free.isUnused)
        let lists = TopWriter(version: state.version + 1, slotCount: max(state.top.slotCount, 11))
        let limit = free.logicalSize + nodes.arena.used + 1 << 21
        let expected = try NewNodes().expectedByteCount([names, tables], in: nodes.space, limit: limit)
        let allocator = SpaceAllocator(free, expected: expected, atEnd: lists.reserve(free, added: freed.count + 8))
        var writer = NodeWriter(nodes.space, NewNodes(), allocator: allocator, output: NodeOutput(data))
        let newNames = try writer.write(names)
        let newTables = try writer.write(tables)
        writer.allocator.lock(freed.blocks, version: lists.version)
        writer.allocator.lock(freed.lists, version: lists.version, isList: true)
        let top = try lists.write(&writer, names: newNames, tables: newTables)
        try writer.output.flush()
        return (top, writer.allocator.finish())
    }

    /// Returns the free space of the newest version. After records were applied it is read from the file.
    private func freeSpace(after previous: Snapshot) throws(StorageError) -> FreeSpace {
        if let free = state.free { return free }
        return try FreeSpace(state.top, previous.space, keeping: 0)
    }

    /// The blocks that a new version does not use, in ascending order.
    private struct Freed {
        /// Nodes that were replaced, the old top node and the history.
        let blocks: [FreeBlock]
        /// The old free lists, when former versions are kept, which do without; otherwise they are among the blocks.
        let lists: [FreeBlock]

        var count: Int { blocks.count + lists.count }
        /// The bytes that are kept for former versions.
        var byteCount: Int { blocks.reduce(0) { $0 + $1.byteCount } }
    }

    /// Returns the blocks that the new version does not use.
    private func freedBlocks(_ nodes: WriteSpace) throws(StorageError) -> Freed {
        var blocks = nodes.freed.map { FreeBlock(position: Int(clamping: $0.ref.rawValue), byteCount: $0.byteCount) }
        let top = state.top
        guard !top.ref.isNone else { return Freed(blocks: try FreeSpace.joined(blocks), lists: []) }
        var lists: [FreeBlock] = []
        for ref in [top.freePositions, top.freeLengths, top.freeVersions] where !ref.isNone {
            lists.append(FreeBlock(try nodes.node(at: ref)))
        }
        blocks.append(FreeBlock(try nodes.node(at: top.ref)))
        try collect(top.history, nodes, &blocks)
        if case .ref(let shrinking) = try nodes.node(at: top.ref).slot(11) { try collect(shrinking, nodes, &blocks) }
        guard former.retention.keepsAny else { return Freed(blocks: try FreeSpace.joined(blocks + lists), lists: []) }
        return Freed(blocks: try FreeSpace.joined(blocks), lists: try FreeSpace.joined(lists))
    }

    /// Adds the blocks of all nodes of a committed tree.
    private func collect(_ root: Ref, _ nodes: WriteSpace, _ blocks: inout [FreeBlock]) throws(StorageError) {
        guard !root.isNone else { return }
        var pending = PendingRefs(nodes.space)
        try pending.add(root)
        while let ref = pending.next() {
            let node = try nodes.node(at: ref)
            blocks.append(FreeBlock(node))
            try pending.addChildren(of: node)
        }
    }

    // MARK: - Header

    /// Writes some bytes at their places.
    private func write(_ extents: [CommitRecord.Extent]) throws(StorageError) {
        for extent in extents { try data.write(extent.bytes, at: extent.offset) }
    }

    /// Fills in a slot of the header, and selects it. Readers of the file find the slot complete before it is selected, and the
    /// disk gets both at once: in an encrypted file now, in a plain one with the next sync.
    private func select(_ header: FileHeader, flags: UInt8) throws(StorageError) {
        var head = try data.header()
        // After an even number of records the slot is the selected one, which must not change before the rest of the header.
        if !data.isEncrypted, flags != head[Committer.flagsOffset] {
            try write(header.slot)
            head = try data.header()
        }
        for extent in header.slot { head.replaceSubrange(extent.offset..<extent.offset + extent.bytes.count, with: extent.bytes) }
        head[Committer.flagsOffset] = flags
        try data.replaceHeader(by: head)
    }
}

extension FileHeader {
    /// The bytes of the slot of the selected version, with their places.
    var slot: [CommitRecord.Extent] {
        [
            CommitRecord.Extent(offset: 8 * selectedSlot, bytes: topRef.littleEndianBytes),
            CommitRecord.Extent(offset: 20 + selectedSlot, bytes: [UInt8(FileHeader.writtenFormat)]),
        ]
    }
}

/// Free blocks made of discarded nodes.
extension FreeBlock {
    /// Makes a block of the bytes of a committed node.
    init(_ node: Node) { self.init(position: Int(clamping: node.ref.rawValue), byteCount: node.byteCount) }
}

/// Selects the nodes of a transaction; committed nodes that they refer to stay where they are.
struct NewNodes: NodeSelection {
    static var movesNodes: Bool { false }
    static var hasWideRefs: Bool { true }
    static var keepsWidths: Bool { false }

    @inline(__always) func isWritten(_ ref: UInt64) -> Bool { ref >= NodeArena.firstRef }
    @inline(__always) func present(_ element: Int64) -> Int64 { element }
}
