// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes nodes to free space, children before their parents.
///
/// A node with refs gets the smallest width that holds the positions of its children, which are far
/// smaller numbers than the refs of new nodes.
struct NodeWriter<Selection: NodeSelection> {
    private let source: NodeSpace
    private let selection: Selection
    /// Chooses the places of written nodes in the free space of the file.
    var allocator: SpaceAllocator
    /// Collects written nodes and writes them to the file.
    let output: NodeOutput
    /// The elements of all nodes from the root to the present one, one after another.
    private var elements: [Int64] = []
    /// The nodes from the root to the present one, whose children are being written.
    private var frames: [Frame] = []
    /// How many nodes and bytes may still be written.
    private var budget: TreeBudget
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
    ///   - allocator: Chooses their places.
    ///   - output: Writes them to the file.
    init(_ source: NodeSpace, _ selection: Selection, allocator: SpaceAllocator, output: NodeOutput) {
        self.source = source
        self.selection = selection
        self.allocator = allocator
        self.output = output
        budget = TreeBudget(source)
        control = nil
    }

    /// Writes the tree below `root`, and returns the ref of the copy; for a root that is not selected
    /// it returns where that node is already.
    ///
    /// - Throws: `.limit` or `.io` when there is no room, `.corrupt` for a damaged tree, and the
    ///   error of `control` when it was cancelled.
    mutating func write(_ root: Ref) throws(StorageError) -> Ref {
        let element = Int64(bitPattern: root.rawValue)
        guard isWritten(element) else { return Ref(UInt64(bitPattern: selection.present(element))) }
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

    /// Writes a node without refs at once and returns its new place; pushes one with refs on the stack and returns nil.
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

    /// Returns the next node to be written that the node on top of the stack refers to; nil when there is none left.
    private mutating func nextChild() -> Ref? {
        let last = frames.count - 1
        let end = frames[last].end
        var index = frames[last].next
        while index < end, !isWritten(elements[index]) {
            if Selection.movesNodes { elements[index] = selection.present(elements[index]) }
            index += 1
        }
        frames[last].next = index
        return index < end ? Ref(UInt64(bitPattern: elements[index])) : nil
    }

    /// Returns whether an element is the ref of a node that is to be written.
    @inline(__always) private func isWritten(_ element: Int64) -> Bool {
        element & 1 == 0 && element != 0 && selection.isWritten(UInt64(bitPattern: element))
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
        // The slice has to be gone before the array is changed, which would be copied otherwise.
        let position = try append(elements[frame.first..<frame.end], flags: frame.flags)
        elements.removeLast(elements.count - frame.first)
        return position
    }

    /// Writes a node with refs and returns its place.
    private mutating func append(_ values: ArraySlice<Int64>, flags: UInt8) throws(StorageError) -> Ref {
        let code = widthCode(for: values)
        let position = try place(NodeLayout.byteCount(flags: UInt8(code), count: values.count))
        output.append(integers: values, flags: flags, widthCode: code)
        return position
    }

    /// Returns the code of the least width for all `values`. Every limit of a width is a power of
    /// two, so the bits that are set in any of the values decide.
    private func widthCode(for values: ArraySlice<Int64>) -> Int {
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
extension NodeSelection {
    /// Returns about how many bytes the selected nodes below `roots` will take.
    ///
    /// - Parameters:
    ///   - roots: The roots of the trees.
    ///   - limit: The greatest position that a ref may have; the result is seldom too small.
    /// - Throws: `.corrupt` for a damaged tree.
    func expectedByteCount(_ roots: [Ref], in source: NodeSpace, limit: Int) throws(StorageError) -> Int {
        let code = IntegerForm.signed.widthCode(for: Int64(limit))
        var pending = PendingRefs(source)
        for root in roots where !root.isNone && isWritten(root.rawValue) { try pending.add(root) }
        var budget = TreeBudget(source)
        var sum = 0
        while let ref = pending.next() {
            let node = try source.node(at: ref)
            try budget.spend(node)
            guard node.hasRefs else {
                sum += node.byteCount
                continue
            }
            let width = Self.keepsWidths ? min(code, node.widthCode) : code
            sum += NodeLayout.byteCount(flags: UInt8(width), count: node.count)
            guard !Self.hasWideRefs || node.widthCode == 7 else { continue }
            for index in 0..<node.count {
                let element = node.integer(index)
                guard element & 1 == 0, element != 0, isWritten(UInt64(bitPattern: element)) else { continue }
                try pending.add(Ref(UInt64(bitPattern: element)))
            }
        }
        return sum
    }
}

/// Access to nodes whose form was checked.
extension Node {
    /// The code of the width of the elements, 0 to 7.
    fileprivate var widthCode: Int { Int(flags & NodeLayout.widthCodeMask) }
}

/// The limits of a walk over trees of nodes: they have no more nodes and no more bytes than there is
/// room for in the space that they come from, unless they are circular.
struct TreeBudget {
    /// How many nodes may still be visited before the tree counts as circular.
    private var nodes: Int
    /// How many bytes may still be visited before the tree counts as circular.
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
