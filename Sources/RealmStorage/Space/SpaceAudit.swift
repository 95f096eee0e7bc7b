// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Checks before a version is written to for the first time that no write can destroy something in use.
///
/// - Every node that can be reached lies inside the logical file, and no two of them share a byte.
/// - No free block lies on a node, and none was released by a version that is still to come. The second does not hold for formats 2 to 9,
///   whose engines have counted versions anew in some files.
///
/// Bytes that are neither reached nor free are allowed: they are lost, but no write goes there. Values, indexes and keys are
/// not checked; `Snapshot.verify` does that. The time is that of one walk over all nodes with refs and the headers of the
/// others; damage cannot make it longer, because a node that is met a second time ends it.
package struct SpaceAudit {
    /// The space that is walked through, which ends with the logical file.
    private let space: NodeSpace
    /// The top node of the version.
    private let top: TopNode
    /// The bytes that belong to a node visited so far.
    private let used: ByteMarks
    /// The positions of the free blocks, ascending.
    private var freeStarts: [UInt64] = []
    /// The ends of the free blocks, in the order of `freeStarts`.
    private var freeEnds: [UInt64] = []
    /// The nodes with refs that are still to be read.
    private var pending: [Ref] = []
    private let versionsRestart: Bool

    /// How many nodes are visited between two checks whether to continue.
    private static let nodesPerQuestion = 4096

    /// Makes an audit of the version whose top node is `top`.
    ///
    /// - Parameter versionsRestart: Whether free blocks may have been released by versions with greater numbers.
    /// - Throws: `.io` when there are no addresses for the marks.
    package init(_ top: TopNode, _ space: NodeSpace, versionsRestart: Bool = false) throws(StorageError) {
        self.versionsRestart = versionsRestart
        self.top = top
        self.space = space
        used = try ByteMarks(byteCount: space.limit)
    }

    /// Walks through the version.
    ///
    /// - Parameters:
    ///   - greatest: The size in bytes of decrypted pages above which their memory is given back; nil for a file that others read or
    ///     write meanwhile.
    ///   - continues: Called every few thousand nodes; false ends the walk.
    /// - Returns: Whether the walk was completed.
    /// - Throws: `.refused(.unsound)` with the first damage that was found.
    package mutating func run(
        keepingDecrypted greatest: Int? = nil, _ continues: () -> Bool = { true }
    ) throws(StorageError) -> Bool {
        guard !top.ref.isNone else { return true }
        do throws(StorageError) {
            try readFreeBlocks()
            return try walk(keepingDecrypted: greatest, continues)
        } catch {
            guard case .corrupt = error else { throw error }
            throw .refused(.unsound("\(error)"))
        }
    }

    /// Reads the free lists; throws `.corrupt` when they cannot be read, or when a block was
    /// released by a version still to come.
    private mutating func readFreeBlocks() throws(StorageError) {
        var free = try FreeSpace(top, space)
        if versionsRestart { free.release(upTo: .max) }
        if let block = free.locked.first {
            throw .corrupt(
                ref: top.freeVersions,
                reason: "a free block was released by version \(block.version), after \(max(top.version, 1))")
        }
        freeStarts = free.usable.map { UInt64($0.position) }
        freeEnds = free.usable.map { UInt64($0.end) }
    }

    /// Visits nodes until none is left, or `continues` returns false; returns whether all were visited.
    private mutating func walk(keepingDecrypted greatest: Int?, _ continues: () -> Bool) throws(StorageError) -> Bool {
        try visit(top.ref)
        var count = 0
        while let ref = pending.popLast() {
            let node = try space.node(at: ref)
            // All elements of width 0 are 0, whatever their stated number is.
            guard node.width > 0 else { continue }
            for index in 0..<node.count {
                let raw = UInt64(bitPattern: node.integer(index))
                guard raw != 0, raw & 1 == 0 else { continue }
                try visit(Ref(raw))
                guard let greatest, space.decryptedByteCount > greatest else { continue }
                space.forgetPages()
                // The rest of the node is still to be read.
                _ = try space.node(at: ref)
            }
            count += 1 + node.count
            guard count >= SpaceAudit.nodesPerQuestion else { continue }
            count = 0
            if !continues() { return false }
        }
        return true
    }

    /// Marks the bytes of a node as used, and adds it to the nodes that are still to be read if it has refs.
    ///
    /// - Throws: `.corrupt` when a byte of the node belongs to another node or to a free block.
    private mutating func visit(_ ref: Ref) throws(StorageError) {
        let node = try space.node(at: ref)
        let start = ref.rawValue
        let end = start + UInt64(node.byteCount)
        guard used.mark(start, end) else {
            throw .corrupt(ref: ref, reason: "the node shares bytes with another one, or is used twice")
        }
        let next = firstFree(endingAfter: start)
        if next < freeStarts.count, freeStarts[next] < end { throw .corrupt(ref: ref, reason: "the node lies in a free block") }
        if node.hasRefs { pending.append(ref) }
    }

    /// Returns the first free block that ends after a position.
    ///
    /// - Complexity: O(log n).
    private func firstFree(endingAfter position: UInt64) -> Int {
        var low = 0
        var high = freeEnds.count
        while low < high {
            let middle = (low + high) >> 1
            if freeEnds[middle] <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
