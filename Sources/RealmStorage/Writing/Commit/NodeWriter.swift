// SPDX-License-Identifier: Apache-2.0

/// Writes the new nodes of a transaction into free space, children before their parents.
///
/// A node with refs gets the smallest width that holds the positions of its children, which are far smaller numbers than
/// the refs of new nodes. Committed nodes that a new node refers to stay where they are.
struct NodeWriter {
    private let nodes: WriteSpace
    var allocator: SpaceAllocator
    let output: NodeOutput
    /// The elements of all nodes from the root to the one at hand, behind each other.
    private var elements: [Int64] = []
    private var frames: [Frame] = []
    private var budget: Int

    /// A node with refs whose children are being written.
    private struct Frame {
        let flags: UInt8
        let first: Int
        /// The element that is looked at next.
        var next: Int
        let end: Int
    }

    init(_ nodes: WriteSpace, _ allocator: SpaceAllocator, _ output: NodeOutput) {
        self.nodes = nodes
        self.allocator = allocator
        self.output = output
        budget = NodeWriter.budget(nodes)
    }

    /// No transaction has more new nodes: the smallest takes 32 bytes.
    private static func budget(_ nodes: WriteSpace) -> Int { nodes.arena.used / 32 + 1 }

    /// Writes the tree below `root` and returns where it is in the file; a committed root is returned as it is.
    mutating func write(_ root: Ref) throws(StorageError) -> Ref {
        guard WriteSpace.isNew(root) else { return root }
        if let position = try enter(root) { return position }
        while true {
            if let child = nextChild() {
                if let position = try enter(child) { finishChild(position) }
            } else {
                let position = try leave()
                if frames.isEmpty { return position }
                finishChild(position)
            }
        }
    }

    /// Writes a node without refs at once; puts one with refs on the stack and returns nil.
    private mutating func enter(_ ref: Ref) throws(StorageError) -> Ref? {
        budget -= 1
        guard budget >= 0 else { throw .corrupt(ref: ref, reason: "new nodes refer to each other in a circle") }
        let node = try nodes.node(at: ref)
        guard node.hasRefs else {
            let position = try place(node.byteCount)
            try output.append(node)
            return position
        }
        let first = elements.count
        elements.reserveCapacity(first + node.count)
        for index in 0..<node.count { elements.append(node.integer(index)) }
        frames.append(Frame(flags: node.flags, first: first, next: first, end: elements.count))
        return nil
    }

    /// The next new node that the node on top of the stack refers to.
    private mutating func nextChild() -> Ref? {
        let last = frames.count - 1
        let end = frames[last].end
        var index = frames[last].next
        while index < end, !NodeWriter.isNewRef(elements[index]) { index += 1 }
        frames[last].next = index
        return index < end ? Ref(UInt64(bitPattern: elements[index])) : nil
    }

    @inline(__always) private static func isNewRef(_ element: Int64) -> Bool {
        element & 1 == 0 && UInt64(bitPattern: element) >= NodeArena.firstRef
    }

    private mutating func finishChild(_ position: Ref) {
        let last = frames.count - 1
        elements[frames[last].next] = Int64(bitPattern: position.rawValue)
        frames[last].next += 1
    }

    /// Writes the node on top of the stack, whose children are written.
    private mutating func leave() throws(StorageError) -> Ref {
        let frame = frames.removeLast()
        let values = elements[frame.first..<frame.end]
        var code = 0
        for value in values { code = max(code, IntegerForm.signed.widthCode(for: value)) }
        let payload = MutableNode.payloadByteCount(flags: UInt8(code), count: values.count)
        let position = try place(8 + (payload + 7) & ~7)
        output.append(integers: values, flags: frame.flags, widthCode: code)
        elements.removeSubrange(frame.first...)
        return position
    }

    private mutating func place(_ byteCount: Int) throws(StorageError) -> Ref {
        let position = try allocator.allocate(byteCount)
        try output.seek(to: position, logicalSize: allocator.free.logicalSize)
        return Ref(UInt64(position))
    }
}

extension NodeWriter {
    /// About how many bytes the new nodes below `roots` will take in a file of `logicalSize` bytes; seldom less.
    static func expectedByteCount(_ roots: [Ref], in nodes: WriteSpace, logicalSize: Int) throws(StorageError) -> Int {
        let code = IntegerForm.signed.widthCode(for: Int64(logicalSize) + Int64(nodes.arena.used) + 1 << 21)
        var pending = roots.filter(WriteSpace.isNew)
        var budget = budget(nodes)
        var sum = 0
        while let ref = pending.popLast() {
            budget -= 1
            guard budget >= 0 else { throw .corrupt(ref: ref, reason: "new nodes refer to each other in a circle") }
            let node = try nodes.node(at: ref)
            guard node.hasRefs else {
                sum += node.byteCount
                continue
            }
            sum += 8 + (MutableNode.payloadByteCount(flags: UInt8(code), count: node.count) + 7) & ~7
            // Only a node of 64-bit elements can hold the ref of a new one.
            guard node.width == 64 else { continue }
            for index in 0..<node.count {
                let element = node.integer(index)
                if isNewRef(element) { pending.append(Ref(UInt64(bitPattern: element))) }
            }
        }
        return sum
    }
}
