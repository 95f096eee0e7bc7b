// SPDX-License-Identifier: Apache-2.0

/// Collects nodes that follow each other in the file, so that many of them become one write.
///
/// Nodes begin at multiples of 8 and take exactly the bytes that their headers state; the first
/// four header bytes are `AAAA`.
/// Source: docs/format.md, "Nodes".
@safe final class NodeOutput {
    /// The plain bytes of the file that nodes are written to.
    private let data: DataFile
    /// The memory for nodes that were not written yet.
    private var memory: UnsafeMutableRawPointer
    /// The size of that memory in bytes.
    private var capacity: Int
    /// The place in the file of the first collected byte.
    private var start = 0
    /// How many bytes are collected in `memory` and not written yet.
    private var count = 0

    /// The number of collected bytes from which on they are written.
    private static let batchByteCount = 1 << 20
    /// The size from which on a payload is written without being collected.
    private static let directByteCount = 1 << 18

    /// Makes an output that writes to `data`.
    init(_ data: DataFile) {
        self.data = data
        capacity = 1 << 16
        unsafe memory = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { unsafe memory.deallocate() }

    /// Sets the place of the next node; collected nodes are written first if it does not follow
    /// them.
    ///
    /// - Parameters:
    ///   - position: The place in the file.
    ///   - logicalSize: The size that the file must have at least.
    /// - Throws: `.io` when the disk rejects a write or is full.
    func seek(to position: Int, logicalSize: Int) throws(StorageError) {
        try data.extend(to: logicalSize)
        if position == start + count, count < NodeOutput.batchByteCount { return }
        try flush()
        start = position
    }

    /// Writes the nodes that were collected.
    func flush() throws(StorageError) {
        guard count > 0 else { return }
        try unsafe data.write(ByteView(start: UnsafePointer(memory.assumingMemoryBound(to: UInt8.self)), count: count), at: start)
        start += count
        count = 0
    }

    /// Adds a copy of a node without refs.
    ///
    /// - Throws: `.io` when a long payload is written at once and the disk rejects it.
    func append(_ node: Node) throws(StorageError) {
        let payload = node.payloadByteCount
        appendHeader(flags: node.flags, count: node.count)
        if payload >= NodeOutput.directByteCount {
            try flush()
            try data.write(node.bytes, at: start)
            start += payload
        } else {
            let target = unsafe room(payload)
            unsafe target.copyMemory(from: node.payload, byteCount: payload)
        }
        let padding = -payload & 7
        if padding > 0 { unsafe room(padding).initializeMemory(as: UInt8.self, repeating: 0, count: padding) }
    }

    /// Adds a node of packed integers.
    ///
    /// - Parameters:
    ///   - values: The elements, all of which fit into the width.
    ///   - flags: The flags of the node; the width is replaced.
    ///   - widthCode: The code of the width.
    func append(integers values: some RandomAccessCollection<Int64>, flags: UInt8, widthCode: Int) {
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

    /// Adds the eight bytes of a header.
    private func appendHeader(flags: UInt8, count elements: Int) {
        let target = unsafe room(8)
        unsafe target.storeBytes(of: UInt32(0x4141_4141), as: UInt32.self)
        unsafe target.storeBytes(of: (UInt32(flags) << 24 | UInt32(elements)).bigEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Returns the place for `byteCount` more bytes, which moves the memory if it is full.
    private func room(_ byteCount: Int) -> UnsafeMutableRawPointer {
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
