// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes the free lists and the top node, the last nodes of every version.
///
/// The free lists describe the file after they themselves were written, so their own place is laid out first. Source:
/// docs/format.md, "The top node" and "Free space".
struct TopWriter {
    /// The number of the version that is being written.
    let version: UInt64
    /// The number of slots of the top node: 11, and the one about shrinking when the file has it.
    /// It is emptied, and SDKs start shrinking again when they need to.
    let slotCount: Int

    /// Returns a number of bytes that is enough for the free lists and the top node.
    ///
    /// - Parameters:
    ///   - free: The free space before they are written.
    ///   - added: The number of blocks that may be added to it.
    func reserve(_ free: FreeSpace, added: Int = 0) -> Int {
        // In files of other writers, locked blocks may have greater versions than this one.
        let newest = free.locked.reduce(version) { max($0, $1.version) }
        return FreeListLayout.reserve(
            entryCount: free.blockCount + added + 2, topSlotCount: slotCount, logicalSize: free.logicalSize, version: newest)
    }

    /// Writes the free lists and the top node after the nodes of `writer`.
    ///
    /// - Parameters:
    ///   - writer: The writer of all other nodes, whose allocator has the free space.
    /// - Returns: The ref of the top node.
    func write<Selection>(_ writer: inout NodeWriter<Selection>, names: Ref, tables: Ref) throws(StorageError) -> Ref {
        var block = 0
        var room = 0
        // Growing the file may add blocks, which makes the lists longer.
        repeat {
            room = reserve(writer.allocator.free)
            block = try writer.allocator.block(with: room)
        } while reserve(writer.allocator.free) > room
        let free = writer.allocator.free
        let layout = FreeListLayout(
            start: free.usable[block].position, end: free.usable[block].end,
            rest: FreeListLayout.blocks(of: free, leavingOut: block),
            top: slots(names, tables, logicalSize: free.logicalSize))
        _ = try writer.allocator.allocate(layout.end - layout.start)
        try layout.write(to: writer.output, logicalSize: free.logicalSize)
        return layout.topRef
    }

    /// Returns the slots of the top node: names, tables, size, three free lists, version, a history
    /// in the file without entries, its schema version, no sync, no shrinking.
    private func slots(_ names: Ref, _ tables: Ref, logicalSize: Int) -> [Int64] {
        var slots: [Int64] = [
            Int64(bitPattern: names.rawValue), Int64(bitPattern: tables.rawValue),
            MutableNode.tagged(UInt64(logicalSize)), 0, 0, 0, MutableNode.tagged(version),
            MutableNode.tagged(UInt64(TopNode.HistoryType.inFile.rawValue)), 0,
            MutableNode.tagged(TopNode.writtenHistorySchema), MutableNode.tagged(0),
        ]
        while slots.count < slotCount { slots.append(0) }
        return slots
    }
}
