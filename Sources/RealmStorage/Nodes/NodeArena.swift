// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The memory in which a write builds its nodes, laid out as in the file.
///
/// Refs of the arena are far above any offset of a file, so one comparison distinguishes a new node from a committed one. They
/// start at a random number, so that a damaged file cannot name a node of the arena. Bytes 0-3 of a node's header hold its
/// capacity in units of 8 bytes, header included. An arena is used for one transaction after another, and reserves 32 GiB of
/// addresses, of which only touched pages take memory.
///
/// `@unchecked Sendable`: used by the one thread that holds the write transaction.
@safe package final class NodeArena: @unchecked Sendable {
    /// The least ref of an arena: no file is as long as this.
    package static let firstRef: UInt64 = 1 << 48

    /// The first byte of the reserved range; pages take memory when they are first used.
    private let memory: UnsafeMutableRawPointer
    /// The size of the range in bytes, which limits how much a transaction may change.
    private let byteCount: Int
    /// The ref of the first byte: random, so that no file can name a node of a transaction.
    private let origin: UInt64
    /// How many bytes were allocated so far, released blocks included.
    package private(set) var used = 0
    /// The offset below which nodes are older than the newest savepoint and must not change any more.
    private var mark = 0
    /// The offsets of blocks of powers of two that were released since the newest savepoint, by their logarithm.
    private var reusableSmall: [[Int]] = Array(repeating: [], count: 15)
    /// The offsets of larger blocks that were released since the newest savepoint, by size.
    private var reusableLarge: [Int: [Int]] = [:]

    /// Reserves `byteCount` bytes of addresses; memory is taken when it is touched.
    ///
    /// - Throws: `.io` when the system has no such range.
    package init(byteCount: Int = 1 << 35) throws(StorageError) {
        unsafe memory = try unsafe System.mapAnonymous(byteCount: byteCount)
        self.byteCount = byteCount
        origin = NodeArena.firstRef + UInt64.random(in: 0..<(1 << 44)) << 3
    }

    deinit { unsafe System.unmap(memory, byteCount: byteCount) }

    // MARK: - Refs

    /// Returns whether the node at `ref` was made in this transaction, after the newest savepoint, so that it may still change.
    @inline(__always) func isYoung(_ ref: Ref) -> Bool { ref.rawValue >= origin &+ UInt64(mark) }

    /// Returns the ref of a byte of the range.
    @inline(__always) private func ref(_ offset: Int) -> Ref { Ref(origin &+ UInt64(offset)) }

    /// Returns the node at a ref outside the file; throws `.corrupt` when the arena has no node there.
    func node(at ref: Ref) throws(StorageError) -> Node {
        if let node = soundNode(at: ref) { return node }
        let header = unsafe UInt64(littleEndian: try address(of: ref).load(as: UInt64.self))
        let flags = UInt8(truncatingIfNeeded: header >> 32)
        guard NodeSpace.isLegal(flags: flags) else { throw NodeSpace.badFlags(ref, flags) }
        throw NodeSpace.badRef(ref)
    }

    /// Returns the node at `ref`, or nil when there is none; `node(at:)` throws the reason.
    @inline(__always) func soundNode(at ref: Ref) -> Node? {
        // A ref below the origin wraps around to a number far above `used`.
        let offset = ref.rawValue &- origin
        guard offset < UInt64(used), ref.rawValue & 7 == 0 else { return nil }
        let header = unsafe UInt64(littleEndian: (memory + Int(offset)).load(as: UInt64.self))
        guard NodeSpace.isLegal(flags: UInt8(truncatingIfNeeded: header >> 32)) else { return nil }
        guard Int(offset) + Node.byteCount(ofHeader: header) <= used else { return nil }
        return unsafe Node(payload: memory + Int(offset) + 8, ref: ref, header: header)
    }

    /// Returns the address of a node's header; throws `.corrupt` for a ref outside the memory in use.
    func address(of ref: Ref) throws(StorageError) -> UnsafeMutableRawPointer {
        guard ref.rawValue >= origin, ref.rawValue & 7 == 0 else { throw NodeSpace.badRef(ref) }
        let offset = ref.rawValue &- origin
        guard offset < UInt64(used) else { throw NodeSpace.badRef(ref) }
        return unsafe memory + Int(offset)
    }

    // MARK: - Blocks

    /// Allocates a block for a node, with its capacity in the header.
    ///
    /// - Parameter wanted: The size in bytes that is needed at least.
    /// - Throws: `.limit` when the range is full.
    func allocate(byteCount wanted: Int) throws(StorageError) -> (ref: Ref, address: UnsafeMutableRawPointer) {
        let size = NodeArena.blockSize(wanted)
        let offset: Int
        if let old = takeReusable(size) { offset = old } else { offset = try fresh(size) }
        let address = unsafe memory + offset
        unsafe address.storeBytes(of: UInt64(size >> 3).littleEndian, as: UInt64.self)
        return unsafe (ref(offset), address)
    }

    /// Allocates a block that was never used; throws `.limit` when the range is full.
    private func fresh(_ size: Int) throws(StorageError) -> Int {
        guard size <= byteCount - used else {
            throw .limit("a transaction may change at most \(byteCount) bytes")
        }
        defer { used += size }
        return used
    }

    /// Releases a block of this transaction. A second release of the same block is ignored, as a
    /// damaged file may have two refs to it.
    ///
    /// Its flags become impossible ones, so that the other ref leads to an error, not to what the block holds next.
    func release(_ ref: Ref, byteCount size: Int) {
        let offset = Int(ref.rawValue &- origin)
        let flags = unsafe memory + offset + 4
        guard unsafe NodeSpace.isLegal(flags: flags.load(as: UInt8.self)) else { return }
        unsafe flags.storeBytes(of: NodeArena.releasedFlags, as: UInt8.self)
        guard size <= NodeArena.largestPower else { return reusableLarge[size, default: []].append(offset) }
        reusableSmall[size.trailingZeroBitCount].append(offset)
    }

    /// Returns a released block of this size, if there is one.
    private func takeReusable(_ size: Int) -> Int? {
        size <= NodeArena.largestPower ? reusableSmall[size.trailingZeroBitCount].popLast() : reusableLarge[size]?.popLast()
    }

    /// Drops the lists of released blocks: after a savepoint their contents may be needed again.
    private func forgetReusable() {
        for index in reusableSmall.indices { reusableSmall[index].removeAll(keepingCapacity: true) }
        reusableLarge.removeAll(keepingCapacity: true)
    }

    /// The greatest block size in bytes that is a power of two; larger ones are multiples of it.
    private static let largestPower = 16384
    /// Flags that no node can have, which mark released blocks.
    private static let releasedFlags = NodeLayout.widthTypeMask

    /// Returns the size of the block for a node: powers of two for nodes that may grow, then steps of 16 KiB.
    static func blockSize(_ byteCount: Int) -> Int {
        if byteCount <= 32 { return 32 }
        guard byteCount > largestPower else { return 1 << (Int.bitWidth - (byteCount - 1).leadingZeroBitCount) }
        return (byteCount + 16383) & ~16383
    }

    /// The size of all blocks that are in use, as long as no savepoint was made. Tests find leaks with it.
    var liveByteCount: Int {
        let small = reusableSmall.enumerated().reduce(0) { $0 + $1.element.count << $1.offset }
        return reusableLarge.reduce(used - small) { $0 - $1.key * $1.value.count }
    }

    // MARK: - Savepoints

    /// Starts a savepoint: from here on all present nodes are copied before they change.
    func makeMark() {
        mark = used
        forgetReusable()
    }

    /// Drops all nodes made since `used` was `end`; those before are copied before they change.
    func restore(to end: Int) {
        used = end
        makeMark()
    }

    /// Drops all nodes, and returns memory to the system except for the 4 MiB that a usual transaction needs.
    package func reset() {
        let kept = 4 << 20
        if used > kept { unsafe System.forget(memory + kept, byteCount: used - kept) }
        restore(to: 0)
    }
}
