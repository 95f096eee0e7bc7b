// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A version before the newest one whose nodes are all still in the file.
package struct FormerVersion: Sendable {
    package let version: UInt64
    /// The ref of its top node.
    let top: Ref
    /// The time of its commit; nil for one that was not made since the file was opened.
    package let time: WallClock?
    /// The bytes that the next commit released, which are kept for this version and for those before it.
    package let byteCount: Int
    /// The instant at which a newer version took its place, or at which the file was opened.
    let since: Instant
}

extension FormerVersion {
    /// Finds the versions before a version of which its file surely has everything.
    ///
    /// The free lists state which commit has released a block. A commit uses the blocks that commits up to some number have
    /// released, so a block that is listed with a number proves that none with a greater number was used, and that all nodes
    /// of the version before are there. Each commit also releases the top node of the version before, by which that is found:
    /// a block consists of whole nodes, from its first byte on.
    ///
    /// Versions of other programs are not found, as these may lower the numbers in the lists. They keep a history in the file,
    /// which this program drops.
    ///
    /// - Parameters:
    ///   - snapshot: The newest version.
    ///   - limit: The most versions to find.
    /// - Returns: The versions without a gap before the newest one, in ascending order.
    /// - Throws: `.corrupt` when the free lists of the newest version cannot be read.
    /// - Complexity: Linear in the number of nodes that the blocks consist of.
    package static func all(before snapshot: Snapshot, limit: Int) throws(StorageError) -> [FormerVersion] {
        let top = snapshot.top
        guard !top.ref.isNone, top.isWrittenHere else { return [] }
        let now = Instant.now()
        let free = try FreeSpace(top, snapshot.space, keeping: 0)
        let blocks = Dictionary(grouping: free.locked, by: \.version)
        var found: [FormerVersion] = []
        var number = snapshot.version
        while found.count < limit, number > 1, let released = blocks[number] {
            let blocks = released.map(\.block)
            var ref = found.isEmpty ? try topOfOtherSlot(version: number - 1, in: blocks, snapshot) : nil
            if ref == nil { ref = try topOfNode(version: number - 1, in: blocks, snapshot) }
            guard let former = ref else { break }
            let byteCount = released.reduce(0) { $0 + $1.block.byteCount }
            found.append(FormerVersion(version: number - 1, top: former, time: nil, byteCount: byteCount, since: now))
            number -= 1
        }
        return found.reversed()
    }

    /// Returns the ref that the header has in the slot which is not selected, if it is that of a version; nil otherwise.
    private static func topOfOtherSlot(
        version: UInt64, in blocks: [FreeBlock], _ snapshot: Snapshot
    ) throws(StorageError) -> Ref? {
        let offset = 8 * (1 - snapshot.file.header.selectedSlot)
        let bytes = try snapshot.file.plain.view(at: 0, byteCount: FileHeader.byteCount)
        let ref = Ref(FileHeader.littleEndian(bytes, at: offset))
        guard blocks.contains(where: { $0.position <= ref.rawValue && ref.rawValue < $0.end }),
            let top = try? TopNode.read(ref, snapshot.space), top.version == version, top.isWrittenHere
        else { return nil }
        return ref
    }

    /// Returns the ref of the top node of a version among the nodes of some blocks; nil when there is none.
    private static func topOfNode(
        version: UInt64, in blocks: [FreeBlock], _ snapshot: Snapshot
    ) throws(StorageError) -> Ref? {
        for block in blocks {
            var position = block.position
            while position < block.end {
                // Blocks that something else than a commit of this program has listed may begin anywhere.
                guard let node = try? snapshot.space.node(at: Ref(UInt64(position))) else { break }
                if node.count >= 11, node.hasRefs, let top = try? TopNode.read(node.ref, snapshot.space),
                    top.version == version, top.isWrittenHere, position + node.byteCount <= block.end
                {
                    return node.ref
                }
                position += node.byteCount
            }
        }
        return nil
    }
}

extension Snapshot {
    /// Returns a former version of the same file, which must not be written to meanwhile.
    ///
    /// - Parameter former: A version that was found before this one.
    /// - Throws: `.corrupt` when it cannot be read.
    package func reading(_ former: FormerVersion) throws(StorageError) -> Snapshot {
        try Snapshot(former, of: file, clusterShift: clusterShift, pin: nil)
    }

    /// Reads a former version.
    ///
    /// - Parameters:
    ///   - file: The file in the state of a later version.
    ///   - pin: Keeps the nodes of the version.
    convenience init(
        _ former: FormerVersion, of file: RealmFile, clusterShift: Int, pin: VersionPins.Pin?
    ) throws(StorageError) {
        let header = FileHeader(selectedSlot: file.header.selectedSlot, topRef: former.top)
        let file = RealmFile(
            path: file.path, header: header, plain: file.plain, fileByteCount: file.fileByteCount, witness: file.witness)
        try self.init(file: file, clusterShift: clusterShift, previous: nil, pin: pin, isFormer: true)
    }
}
