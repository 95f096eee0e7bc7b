// SPDX-License-Identifier: Apache-2.0

/// Looks a version through before its file is written to for the first time: that no write can land on something in use.
///
/// - Every node that can be reached lies inside the logical file, and no two of them share a byte.
/// - No free block lies on a node, and none was released by a version that is still to come.
///
/// Bytes that are neither reached nor free are allowed: they are lost, but no write goes there. Values, indexes and keys
/// are not looked at; `Snapshot.verify` does that. The time is that of one walk over all nodes with refs and the headers
/// of the others; damage cannot make it longer, because what is walked over twice ends it.
struct SpaceAudit {
    /// The space that is looked through.
    private let space: NodeSpace
    /// The root of the version.
    private let top: TopNode
    /// Bytes that belong to a node.
    private let used: ByteMarks
    /// Where the free blocks begin and end; both ascend.
    private var freeStarts: [UInt64] = []
    /// The ends of free blocks, ascending.
    private var freeEnds: [UInt64] = []
    /// Refs still to be visited.
    private var pending: [Ref] = []

    /// Between two questions whether to go on.
    private static let nodesPerQuestion = 4096

    /// `space` ends with the logical file. The free lists were read before, so they are known to be in order.
    init(_ top: TopNode, _ space: NodeSpace) throws(StorageError) {
        self.top = top
        self.space = space
        used = try ByteMarks(byteCount: space.limit)
    }

    /// Throws `.refused(.unsound)` with what was found first. Returns false when `goesOn` did.
    mutating func run(_ goesOn: () -> Bool = { true }) throws(StorageError) -> Bool {
        guard !top.ref.isNone else { return true }
        do throws(StorageError) {
            try readFreeBlocks()
            return try walk(goesOn)
        } catch {
            guard case .corrupt = error else { throw error }
            throw .refused(.unsound("\(error)"))
        }
    }

    /// Reads the free lists. Throws `.refused` for blocks that cannot be.
    private mutating func readFreeBlocks() throws(StorageError) {
        let free = try FreeSpace(top, space)
        if let block = free.locked.first {
            throw .corrupt(
                ref: top.freeVersions,
                reason: "a free block was released by version \(block.version), after \(max(top.version, 1))")
        }
        freeStarts = free.usable.map { UInt64($0.position) }
        freeEnds = free.usable.map { UInt64($0.end) }
    }

    /// Visits nodes until none is left, or `goesOn` says no.
    private mutating func walk(_ goesOn: () -> Bool) throws(StorageError) -> Bool {
        try visit(top.ref)
        var count = 0
        while let ref = pending.popLast() {
            let node = try space.node(at: ref)
            // Without width all elements are 0, however many there are said to be.
            guard node.width > 0 else { continue }
            for index in 0..<node.count {
                let raw = UInt64(bitPattern: node.integer(index))
                if raw != 0, raw & 1 == 0 { try visit(Ref(raw)) }
            }
            count += 1 + node.count
            guard count >= SpaceAudit.nodesPerQuestion else { continue }
            count = 0
            if !goesOn() { return false }
        }
        return true
    }

    /// Marks a node as used; what refers to others waits to be looked through.
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

    /// The first free block that ends after a position; O(log n).
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
