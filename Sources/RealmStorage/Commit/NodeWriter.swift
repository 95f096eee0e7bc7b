// SPDX-License-Identifier: Apache-2.0

/// Writes nodes to free space, children before their parents.
///
/// A node with refs gets the smallest width that holds the positions of its children, which are far
/// smaller numbers than the refs of new nodes.
struct NodeWriter {
    /// The nodes below a root that are written.
    enum Reach {
        /// Those of a transaction; committed nodes that they refer to stay where they are.
        case newNodes
        /// All nodes, into another file.
        case allNodes
    }

    /// The space that nodes are read in.
    private let source: NodeSpace
    /// Which nodes are written: those of a transaction, or all.
    private let reach: Reach
    /// Chooses the places of written nodes in the free space of the file.
    var allocator: SpaceAllocator
    /// Collects written nodes and writes them to the file.
    let output: NodeOutput
    /// The elements of all nodes from the root to the present one, one after another.
    private var elements: [Int64] = []
    /// The nodes from the root to the present one, whose children are being written.
    private var frames: [Frame] = []
    /// How many nodes and bytes may still be written.
    private var budget: Budget
    /// Checked for every node, so that a copy can be cancelled.
    var control: WorkControl?

    /// A node with refs whose children are being written.
    private struct Frame {
        /// The flags of the original node; the copy gets another width.
        let flags: UInt8
        /// The index in `elements` of the node's first element.
        let first: Int
        /// The index in `elements` of the element that is examined next.
        var next: Int
        /// The index in `elements` after the node's last element.
        let end: Int
    }

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - source: The space that nodes are read in.
    ///   - reach: The nodes that are written.
    ///   - allocator: Chooses their places.
    ///   - output: Writes them to the file.
    init(_ source: NodeSpace, _ reach: Reach, allocator: SpaceAllocator, output: NodeOutput) {
        self.source = source
        self.reach = reach
        self.allocator = allocator
        self.output = output
        budget = Budget(source)
        control = nil
    }

    /// The limits of a walk: trees have no more nodes and no more bytes than there is room for in
    /// the space that they come from, unless they are circular.
    private struct Budget {
        /// How many nodes may still be written before the tree counts as circular.
        private var nodes: Int
        /// How many bytes may still be written before the tree counts as circular.
        private var bytes: Int

        /// Makes limits from the size of a space.
        init(_ space: NodeSpace) {
            nodes = space.nodeBudget
            bytes = Int(clamping: space.nodeBudget.multipliedReportingOverflow(by: 8).partialValue)
        }

        /// Counts one node; throws `.corrupt` when there are too many.
        mutating func spend(_ node: Node) throws(StorageError) {
            nodes -= 1
            bytes -= node.byteCount
            guard nodes >= 0, bytes >= 0 else { throw node.corrupt("nodes refer to each other in a circle") }
        }
    }

    /// Writes the tree below `root`, and returns the ref of the copy; a committed root is returned
    /// as it is.
    ///
    /// - Throws: `.limit` or `.io` when there is no room, `.corrupt` for a damaged tree, and the
    ///   error of `control` when it was cancelled.
    mutating func write(_ root: Ref) throws(StorageError) -> Ref {
        guard NodeWriter.isWritten(Int64(bitPattern: root.rawValue), reach) else { return root }
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

    /// Writes a node without refs at once and returns its new place; pushes one with refs on the
    /// stack and returns nil.
    private mutating func enter(_ ref: Ref) throws(StorageError) -> Ref? {
        let node = try source.node(at: ref)
        try budget.spend(node)
        if let control { try control.check() }
        guard node.hasRefs else {
            let position = try place(node.byteCount)
            try output.append(node)
            return position
        }
        let first = elements.count
        node.appendIntegers(to: &elements)
        frames.append(Frame(flags: node.flags, first: first, next: first, end: elements.count))
        return nil
    }

    /// Returns the next node to be written that the node on top of the stack refers to; nil when
    /// there is none left.
    private mutating func nextChild() -> Ref? {
        let last = frames.count - 1
        let end = frames[last].end
        var index = frames[last].next
        while index < end, !NodeWriter.isWritten(elements[index], reach) { index += 1 }
        frames[last].next = index
        return index < end ? Ref(UInt64(bitPattern: elements[index])) : nil
    }

    /// Returns whether an element is the ref of a node that is to be written.
    @inline(__always) private static func isWritten(_ element: Int64, _ reach: Reach) -> Bool {
        guard element & 1 == 0, element != 0 else { return false }
        return reach == .allNodes || UInt64(bitPattern: element) >= NodeArena.firstRef
    }

    /// Stores the new place of a child in its parent.
    private mutating func finishChild(_ position: Ref) {
        let last = frames.count - 1
        elements[frames[last].next] = Int64(bitPattern: position.rawValue)
        frames[last].next += 1
    }

    /// Writes the node on top of the stack, whose children are written, and returns its new place.
    private mutating func leave() throws(StorageError) -> Ref {
        let frame = frames.removeLast()
        let values = elements[frame.first..<frame.end]
        let code = NodeWriter.widthCode(for: values)
        let position = try place(NodeLayout.byteCount(flags: UInt8(code), count: values.count))
        output.append(integers: values, flags: frame.flags, widthCode: code)
        elements.removeLast(elements.count - frame.first)
        return position
    }

    /// Returns the code of the least width for all `values`. Every limit of a width is a power of
    /// two, so the bits that are set in any of the values decide.
    private static func widthCode(for values: ArraySlice<Int64>) -> Int {
        var bits: Int64 = 0
        var signs: Int64 = 0
        for value in values {
            bits |= value ^ (value >> 63)
            signs |= value
        }
        return IntegerForm.signed.widthCode(for: signs < 0 ? ~bits : bits)
    }

    /// Allocates a place for a node of `byteCount` bytes, where the output continues.
    private mutating func place(_ byteCount: Int) throws(StorageError) -> Ref {
        let position = try allocator.allocate(byteCount)
        try output.seek(to: position, logicalSize: allocator.free.logicalSize)
        return Ref(UInt64(position))
    }
}

/// An estimate of the size of nodes that are going to be written.
extension NodeWriter {
    /// Returns about how many bytes the nodes below `roots` will take.
    ///
    /// - Parameters:
    ///   - roots: The roots of the trees.
    ///   - source: The space that nodes are read in.
    ///   - reach: The nodes that are written.
    ///   - limit: The greatest position that a ref may have; the result is seldom too small.
    /// - Throws: `.corrupt` for a damaged tree.
    static func expectedByteCount(
        _ roots: [Ref], in source: NodeSpace, _ reach: Reach, limit: Int
    ) throws(StorageError) -> Int {
        let code = IntegerForm.signed.widthCode(for: Int64(limit))
        var pending = PendingRefs(source)
        for root in roots where isWritten(Int64(bitPattern: root.rawValue), reach) { try pending.add(root) }
        var budget = Budget(source)
        var sum = 0
        while let ref = pending.next() {
            let node = try source.node(at: ref)
            try budget.spend(node)
            guard node.hasRefs else {
                sum += node.byteCount
                continue
            }
            let width = reach == .allNodes ? min(code, node.widthCode) : code
            sum += NodeLayout.byteCount(flags: UInt8(width), count: node.count)
            // Refs of new nodes need all 64 bits.
            guard reach == .allNodes || node.widthCode == 7 else { continue }
            for index in 0..<node.count where isWritten(node.integer(index), reach) { try pending.add(node.ref(index)) }
        }
        return sum
    }
}

/// Access to nodes whose form was checked.
extension Node {
    /// The code of the width of the elements, 0 to 7.
    fileprivate var widthCode: Int { Int(flags & NodeLayout.widthCodeMask) }

    /// Returns element `index`, which the caller knows to be a ref.
    fileprivate func ref(_ index: Int) -> Ref { Ref(UInt64(bitPattern: integer(index))) }
}
