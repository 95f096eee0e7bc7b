// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Memory in which nodes are laid out one after another as they are in a file.
///
/// Nodes take a multiple of 8 bytes; the first four header bytes are `AAAA`. One thread uses it.
/// Source: docs/format.md, "Nodes".
@safe struct NodeBuffer: ~Copyable {
    /// The memory, which is moved when it is full.
    private var memory: UnsafeMutableRawPointer
    /// The size of the memory in bytes.
    private var capacity: Int
    /// How many bytes the nodes take.
    private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: The size in bytes that it has before it grows.
    init(capacity: Int) {
        self.capacity = capacity
        unsafe memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { unsafe memory.deallocate() }

    /// The bytes of all nodes, valid until the buffer is changed.
    var bytes: ByteView { unsafe ByteView(start: UnsafePointer(memory.assumingMemoryBound(to: UInt8.self)), count: count) }

    /// Forgets all nodes and keeps the memory.
    mutating func removeAll() { count = 0 }

    /// Adds the eight bytes of a header.
    mutating func appendHeader(flags: UInt8, count elements: Int) {
        let target = unsafe room(8)
        unsafe target.storeBytes(of: UInt32(0x4141_4141), as: UInt32.self)
        unsafe target.storeBytes(of: (UInt32(flags) << 24 | UInt32(elements)).bigEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Adds the payload of a node, without the bytes up to the next multiple of 8.
    mutating func appendPayload(of node: Node) {
        unsafe room(node.payloadByteCount).copyMemory(from: node.payload, byteCount: node.payloadByteCount)
    }

    /// Adds zeros after a payload of `byteCount` bytes, up to the next multiple of 8.
    mutating func appendPadding(after byteCount: Int) {
        let padding = -byteCount & 7
        if padding > 0 { unsafe room(padding).initializeMemory(as: UInt8.self, repeating: 0, count: padding) }
    }

    /// Adds a node of packed integers.
    ///
    /// - Parameters:
    ///   - values: The elements, all of which fit into the width.
    ///   - flags: The flags of the node; the width is replaced.
    mutating func append(integers values: some RandomAccessCollection<Int64>, flags: UInt8, widthCode: Int) {
        let flags = flags & ~7 | UInt8(widthCode)
        let payload = NodeLayout.padded(NodeLayout.payloadByteCount(flags: flags, count: values.count))
        appendHeader(flags: flags, count: values.count)
        let target = unsafe room(payload)
        unsafe target.initializeMemory(as: UInt8.self, repeating: 0, count: payload)
        switch widthCode {
        case 0: return
        case 1, 2, 3: unsafe storeBits(values, at: target, width: (1 << widthCode) >> 1)
        case 4: unsafe store(values, at: target, as: Int8.self)
        case 5: unsafe store(values, at: target, as: Int16.self)
        case 6: unsafe store(values, at: target, as: Int32.self)
        default: unsafe store(values, at: target, as: Int64.self)
        }
    }

    /// Stores numbers one after another; the caller has made room for them.
    private func store<Number: FixedWidthInteger>(
        _ values: some Collection<Int64>, at target: UnsafeMutableRawPointer, as type: Number.Type
    ) {
        var position = unsafe target
        for value in values {
            unsafe position.storeBytes(of: Number(truncatingIfNeeded: value).littleEndian, as: Number.self)
            unsafe position += MemoryLayout<Number>.size
        }
    }

    /// Stores elements of 1, 2 or 4 bits; the memory must be zero before.
    private func storeBits(_ values: some Collection<Int64>, at target: UnsafeMutableRawPointer, width: Int) {
        let bytes = unsafe target.assumingMemoryBound(to: UInt8.self)
        var bit = 0
        for value in values {
            unsafe bytes[bit >> 3] |= UInt8(truncatingIfNeeded: value) << UInt8(bit & 7)
            bit += width
        }
    }

    /// Returns the place for `byteCount` more bytes, which moves the memory if it is full.
    private mutating func room(_ byteCount: Int) -> UnsafeMutableRawPointer {
        if count + byteCount > capacity {
            let wider = max(capacity * 2, count + byteCount)
            let moved = UnsafeMutableRawPointer.allocate(byteCount: wider, alignment: 8)
            unsafe moved.copyMemory(from: memory, byteCount: count)
            unsafe memory.deallocate()
            unsafe memory = unsafe moved
            capacity = wider
        }
        defer { count += byteCount }
        return unsafe memory + count
    }
}
