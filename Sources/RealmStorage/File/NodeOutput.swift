// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Collects nodes that follow each other in the file, so that many of them become one write.
///
/// Nodes begin at multiples of 8 and take exactly the bytes that their headers state. Source: docs/format.md, "Nodes".
final class NodeOutput {
    /// The plain bytes of the file that nodes are written to.
    private let data: DataFile
    /// The nodes that were not written yet.
    private var nodes = NodeBuffer(capacity: 1 << 16)
    /// The place in the file of the first collected byte.
    private var start = 0

    /// The number of collected bytes from which on they are written.
    private static let batchByteCount = 1 << 20
    /// The size from which on a payload is written without being collected.
    private static let directByteCount = 1 << 18

    /// Makes an output that writes to `data`.
    init(_ data: DataFile) { self.data = data }

    /// Sets the place of the next node; collected nodes are written first if it does not follow them.
    ///
    /// - Parameters:
    ///   - position: The place in the file.
    ///   - logicalSize: The size that the file must have at least.
    /// - Throws: `.io` when the disk rejects a write or is full.
    func seek(to position: Int, logicalSize: Int) throws(StorageError) {
        try data.extend(to: logicalSize)
        if position == start + nodes.count, nodes.count < NodeOutput.batchByteCount { return }
        try flush()
        start = position
    }

    /// Writes the nodes that were collected.
    func flush() throws(StorageError) {
        guard nodes.count > 0 else { return }
        try data.write(nodes.bytes, at: start)
        start += nodes.count
        nodes.removeAll()
    }

    /// Adds a copy of a node without refs.
    ///
    /// - Throws: `.io` when a long payload is written at once and the disk rejects it.
    func append(_ node: Node) throws(StorageError) {
        let payload = node.payloadByteCount
        nodes.appendHeader(flags: node.flags, count: node.count)
        if payload >= NodeOutput.directByteCount {
            try flush()
            try data.write(node.bytes, at: start)
            start += payload
        } else {
            nodes.appendPayload(of: node)
        }
        nodes.appendPadding(after: payload)
    }

    /// Adds a node of packed integers.
    ///
    /// - Parameters:
    ///   - values: The elements, all of which fit into the width.
    ///   - flags: The flags of the node; the width is replaced.
    func append(integers values: some RandomAccessCollection<Int64>, flags: UInt8, widthCode: Int) {
        nodes.append(integers: values, flags: flags, widthCode: widthCode)
    }
}
