// SPDX-License-Identifier: Apache-2.0

/// The memory in which a write builds its nodes, laid out as in the file.
///
/// Refs of the arena are far above any offset of a file, so one comparison distinguishes a new node from a committed one.
/// They start at a random number: a damaged file cannot name a node of the arena. Bytes 0-3 of a node's header hold
/// its capacity in units of 8 bytes, header included.
///
/// `@unchecked Sendable`: used by the one thread that holds the write transaction.
@safe package final class NodeArena: @unchecked Sendable {
    /// No file is as long as this, so refs from here on lie in an arena.
    package static let firstRef: UInt64 = 1 << 48

    /// The reserved range; pages take memory when they are first used.
    private let memory: UnsafeMutableRawPointer
    /// The size of the range, and so the most that a transaction may change.
    private let byteCount: Int
    /// The ref of the first byte: random, so that no file can name a node of a transaction.
    private let origin: UInt64
    /// Bytes handed out so far.
    package private(set) var used = 0
    /// Nodes below are older than the newest savepoint and no longer change.
    private var mark = 0
    /// Blocks given back since the newest savepoint: those of powers of two by their logarithm, and larger ones by size.
    private var reusableSmall: [[Int]] = Array(repeating: [], count: 15)
    /// Larger blocks that were released, by size.
    private var reusableLarge: [Int: [Int]] = [:]

    /// Reserves `byteCount` bytes of address space; memory is taken when it is touched.
    package init(byteCount: Int = 1 << 35) throws(StorageError) {
        unsafe memory = try unsafe System.mapAnonymous(byteCount: byteCount)
        self.byteCount = byteCount
        origin = NodeArena.firstRef + UInt64.random(in: 0..<(1 << 44)) << 3
    }

    deinit { unsafe System.unmap(memory, byteCount: byteCount) }

    // MARK: - Refs

    /// Whether the node at `ref` was made in this transaction and may still change.
    @inline(__always) func isYoung(_ ref: Ref) -> Bool { ref.rawValue >= origin &+ UInt64(mark) }

    /// The ref of a byte of the range.
    @inline(__always) private func ref(_ offset: Int) -> Ref { Ref(origin &+ UInt64(offset)) }

    /// The node at a ref that lies outside the file.
    func node(at ref: Ref) throws(StorageError) -> Node {
        if let node = soundNode(at: ref) { return node }
        let header = unsafe UInt64(littleEndian: try address(of: ref).load(as: UInt64.self))
        let flags = UInt8(truncatingIfNeeded: header >> 32)
        guard NodeSpace.isLegal(flags: flags) else { throw NodeSpace.badFlags(ref, flags) }
        throw NodeSpace.badRef(ref)
    }

    /// The node at `ref`, or nil when there is none; `node(at:)` says why.
    @inline(__always) func soundNode(at ref: Ref) -> Node? {
        // A ref below the origin wraps around to a number far above `used`.
        let offset = ref.rawValue &- origin
        guard offset < UInt64(used), ref.rawValue & 7 == 0 else { return nil }
        let header = unsafe UInt64(littleEndian: (memory + Int(offset)).load(as: UInt64.self))
        guard NodeSpace.isLegal(flags: UInt8(truncatingIfNeeded: header >> 32)) else { return nil }
        guard Int(offset) + Node.byteCount(ofHeader: header) <= used else { return nil }
        return unsafe Node(payload: memory + Int(offset) + 8, ref: ref, header: header)
    }

    /// Where the header of a node lies.
    func address(of ref: Ref) throws(StorageError) -> UnsafeMutableRawPointer {
        guard ref.rawValue >= origin, ref.rawValue & 7 == 0 else { throw NodeSpace.badRef(ref) }
        let offset = ref.rawValue &- origin
        guard offset < UInt64(used) else { throw NodeSpace.badRef(ref) }
        return unsafe memory + Int(offset)
    }

    // MARK: - Blocks

    /// A block for a node of `byteCount` bytes, its capacity already in its header.
    func allocate(byteCount wanted: Int) throws(StorageError) -> (ref: Ref, address: UnsafeMutableRawPointer) {
        let size = NodeArena.blockSize(wanted)
        let offset: Int
        if let old = takeReusable(size) { offset = old } else { offset = try fresh(size) }
        let address = unsafe memory + offset
        unsafe address.storeBytes(of: UInt64(size >> 3).littleEndian, as: UInt64.self)
        return unsafe (ref(offset), address)
    }

    /// Takes a block that was never used. Throws `.limit` when the range is full.
    private func fresh(_ size: Int) throws(StorageError) -> Int {
        guard size <= byteCount - used else {
            throw .limit("a transaction may change at most \(byteCount) bytes")
        }
        defer { used += size }
        return used
    }

    /// Takes a young block back, once: what a damaged file has two refs to may be given up twice.
    ///
    /// Its flags become impossible ones, so that the other ref leads to an error, not what the block holds next.
    func release(_ ref: Ref, byteCount size: Int) {
        let offset = Int(ref.rawValue &- origin)
        let flags = unsafe memory + offset + 4
        guard unsafe NodeSpace.isLegal(flags: flags.load(as: UInt8.self)) else { return }
        unsafe flags.storeBytes(of: NodeArena.releasedFlags, as: UInt8.self)
        guard size <= NodeArena.largestPower else { return reusableLarge[size, default: []].append(offset) }
        reusableSmall[size.trailingZeroBitCount].append(offset)
    }

    /// A released block of this size, if there is one.
    private func takeReusable(_ size: Int) -> Int? {
        size <= NodeArena.largestPower ? reusableSmall[size.trailingZeroBitCount].popLast() : reusableLarge[size]?.popLast()
    }

    /// Forgets released blocks: after a savepoint they may be needed again.
    private func forgetReusable() {
        for index in reusableSmall.indices { reusableSmall[index].removeAll(keepingCapacity: true) }
        reusableLarge.removeAll(keepingCapacity: true)
    }

    /// Up to here block sizes are powers of two.
    private static let largestPower = 16384
    /// Flags that no node can have, so that a stale ref leads to an error.
    private static let releasedFlags = NodeLayout.widthTypeMask

    /// Powers of two for nodes that may grow, then steps of 16 KiB.
    static func blockSize(_ byteCount: Int) -> Int {
        if byteCount <= 32 { return 32 }
        guard byteCount > largestPower else { return 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount) }
        return (byteCount + 16383) & ~16383
    }

    /// The bytes of all blocks that are in use, as far as there was no savepoint: what tests count leaks with.
    var liveByteCount: Int {
        let small = reusableSmall.enumerated().reduce(0) { $0 + $1.element.count << $1.offset }
        return reusableLarge.reduce(used - small) { $0 - $1.key * $1.value.count }
    }

    // MARK: - Savepoints

    /// From here on all present nodes are copied before they change.
    func makeMark() {
        mark = used
        forgetReusable()
    }

    /// Forgets all nodes made since `used` was `end`, and lets those from `mark` on change again.
    func restore(end: Int, mark: Int) {
        used = end
        self.mark = mark
        forgetReusable()
    }

    /// Forgets everything and gives the memory back to the system beyond what a usual transaction needs.
    package func reset() {
        let kept = 4 << 20
        if used > kept { unsafe System.forget(memory + kept, byteCount: used - kept) }
        restore(end: 0, mark: 0)
    }
}
