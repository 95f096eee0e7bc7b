// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads nodes as a version would have had them, and refuses those that may not be believed.
///
/// Whatever cannot be read is a `Loss`; nothing is repaired or guessed.
final class NodeReader {
    /// The bytes.
    let map: SpaceMap
    /// The format of the file, on which the form of dictionaries depends.
    let format: Int
    /// The binary logarithm of the number of rows of a leaf.
    let clusterShift: Int
    /// Returns why a node is not what the version had there; nil when nothing speaks against it.
    var distrust: (UInt64, UInt64) -> Loss?
    /// Returns whether a node is proved to be what the version had there.
    var isUntouched: (UInt64, UInt64) -> Bool = { _, _ in true }
    /// Whether nodes that would have to be two things are refused where nothing speaks for one of them.
    var isStrict = true
    /// Whether collections inside of single Mixed values may be read.
    var allowsNested = true
    /// The number of collections around the value that is read.
    private var nesting = 0
    /// The texts of enumerated columns, by the ref of their list.
    private var enumerations: [UInt64: [StoredValue]] = [:]
    /// Keeps the bytes of values that were joined from several nodes, until `forgetJoined`.
    private var joined: [ByteStorage] = []
    /// The number of bytes in `joined`.
    private var joinedByteCount = 0

    /// The most levels of trees.
    static let maximumDepth = 16
    /// The most levels of collections inside of Mixed values.
    static let maximumNesting = 128
    /// The most elements of a collection.
    static let maximumElements = 1 << 22
    /// The most elements of a node that takes no bytes for them.
    private static let maximumEmptyCount = 65536

    init(_ map: SpaceMap, format: Int, clusterShift: Int, distrust: @escaping (UInt64, UInt64) -> Loss?) {
        self.map = map
        self.format = format
        self.clusterShift = clusterShift
        self.distrust = distrust
    }

    // MARK: - Nodes

    func node(_ ref: UInt64) throws(Loss) -> RawNode {
        let node = try map.node(at: ref)
        if map.isUnreadable(ref, node.byteCount) { throw .unreadablePage }
        if node.width == 0, node.widthType != 2, node.count > NodeReader.maximumEmptyCount { throw .malformed("absurd size") }
        if map.isFreeList(ref) { throw .usedForSomethingElse }
        if let loss = distrust(ref, node.byteCount) { throw loss }
        return node
    }

    /// Returns the node that a slot refers to.
    func child(_ node: RawNode, _ index: Int) throws(Loss) -> RawNode {
        guard node.hasRefs, let ref = node.child(index) else { throw .malformed("a ref is missing") }
        return try self.node(ref)
    }

    /// Returns the elements of a bit-packed node.
    func integers(_ node: RawNode) throws(Loss) -> [Int64] {
        guard node.widthType == 0 else { throw .malformed("integers expected") }
        guard map.budget.spend(node.count / 64) else { throw .stopped }
        return (0..<node.count).map { node.integer($0) }
    }

    /// Returns the elements of a bit-packed node without refs.
    func plainIntegers(_ node: RawNode) throws(Loss) -> [Int64] {
        guard !node.hasRefs else { throw .malformed("plain integers expected") }
        return try integers(node)
    }

    /// Calls `body` with one more collection around it.
    func nested<Result>(_ body: () throws(Loss) -> Result) throws(Loss) -> Result {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= NodeReader.maximumNesting else { throw .malformed("nested too deeply") }
        return try body()
    }

    // MARK: - Values that are kept

    /// Joins pieces of a value, and keeps them until `forgetJoined`.
    func join(_ pieces: [ByteView]) throws(Loss) -> ByteView {
        joinedByteCount += pieces.reduce(0) { $0 + $1.count }
        // The contents of one leaf cannot exceed the file.
        guard joinedByteCount <= map.bytes.count else { throw .malformed("longer than the file") }
        let storage = ByteStorage(pieces.flatMap(\.array))
        joined.append(storage)
        return storage.view
    }

    /// Whether values are kept that were joined.
    var hasJoined: Bool { !joined.isEmpty }

    /// Lets go of values that were joined. None of them may be used any more.
    func forgetJoined() {
        joined.removeAll()
        joinedByteCount = 0
        enumerations.removeAll()
    }

    /// Returns the texts of an enumerated column.
    func enumeration(_ ref: UInt64) throws(Loss) -> [StoredValue] {
        if let values = enumerations[ref] { return values }
        var values: [StoredValue] = []
        try forEachTreeLeaf(ref) { leaf throws(Loss) in values += try self.texts(leaf, enumeration: 0) }
        enumerations[ref] = values
        return values
    }

    // MARK: - Trees

    /// Calls `body` with the leaves of a B+ tree from left to right.
    func forEachTreeLeaf(_ ref: UInt64, depth: Int = 0, _ body: (RawNode) throws(Loss) -> Void) throws(Loss) {
        guard depth <= NodeReader.maximumDepth else { throw .malformed("a tree is too deep") }
        let node = try node(ref)
        guard node.isInner else { return try body(node) }
        guard node.count >= 3, node.slot(node.count - 1) & 1 == 1 else { throw .malformed("not a node of a tree") }
        for index in 1..<node.count - 1 {
            guard let child = node.child(index) else { throw .malformed("a ref is missing") }
            try forEachTreeLeaf(child, depth: depth + 1, body)
        }
    }

    /// A step of a walk over a cluster tree.
    enum ClusterStep {
        /// A leaf, with the base of its keys.
        case leaf(LeafRows)
        /// A node that cannot be read.
        case gap(UInt64, Loss)
    }

    /// Walks over the leaves of a cluster tree, as far as they can be reached.
    ///
    /// - Parameters:
    ///   - root: The root of the tree.
    ///   - enters: Returns whether a node below a ref is walked over; it is called with the ref and the offset.
    ///   - body: Called with each leaf and each gap.
    func walkClusters(
        _ table: FormerTable, root: UInt64, enters: (UInt64, Int64) -> Bool = { _, _ in true }, _ body: (ClusterStep) -> Void
    ) {
        walkClusters(table, root, Step(offset: 0, depth: nil, isPlaced: true, path: [table.ref]), enters: enters, body)
    }

    /// A step down a cluster tree.
    private struct Step {
        /// The base of the keys below.
        let offset: Int64
        /// The levels of inner nodes that are left; nil at the root.
        let depth: UInt64?
        /// Whether the offset was read from nodes that are proved.
        let isPlaced: Bool
        let path: [UInt64]
    }

    /// Walks over a part of a cluster tree.
    private func walkClusters(
        _ table: FormerTable, _ ref: UInt64, _ step: Step, enters: (UInt64, Int64) -> Bool, _ body: (ClusterStep) -> Void
    ) {
        guard step.path.count <= 2 * NodeReader.maximumDepth + 1, !map.budget.isUsedUp, enters(ref, step.offset) else { return }
        do throws(Loss) {
            let node = try node(ref)
            guard node.hasRefs, node.count > 0 else { throw .malformed("not a cluster") }
            guard node.isInner else {
                var rows = LeafRows(table: table, node: node, offset: step.offset, relativeKeys: try leafKeys(node))
                (rows.isPlaced, rows.path) = (step.isPlaced && isUntouched(ref, node.byteCount), step.path)
                return body(.leaf(rows))
            }
            let (here, offsets) = try children(of: node, depth: step.depth)
            let isPlaced =
                step.isPlaced && isUntouched(ref, node.byteCount)
                && (node.child(0).map { isUntouched($0, map.byteCount(at: $0)) } ?? true)
            let path = step.path + [ref] + (node.child(0).map { [$0] } ?? [])
            for (index, childOffset) in offsets.enumerated() {
                guard let child = node.child(index + 3) else { continue }
                let below = Step(offset: step.offset &+ childOffset, depth: here - 1, isPlaced: isPlaced, path: path)
                walkClusters(table, child, below, enters: enters, body)
            }
        } catch {
            body(.gap(ref, error))
        }
    }

    /// Returns the depth of an inner node of a cluster tree, and the offsets of its children.
    func children(of node: RawNode, depth: UInt64?) throws(Loss) -> (depth: UInt64, offsets: [Int64]) {
        guard node.count >= 4, let here = node.number(inSlot: 1), (1...UInt64(NodeReader.maximumDepth)).contains(here),
            depth == nil || depth == here
        else { throw .malformed("not an inner cluster") }
        let count = node.count - 3
        guard node.slot(0) != 0 else {
            let shift = UInt64(clusterShift) * here
            return (here, (0..<count).map { shift < 64 ? Int64(truncatingIfNeeded: UInt64($0) << shift) : 0 })
        }
        let offsets = try child(node, 0)
        guard !offsets.hasRefs, offsets.widthType == 0, offsets.count == count else { throw .malformed("offsets") }
        return (here, (0..<count).map { Int64(bitPattern: offsets.unsigned($0)) })
    }

    /// Returns the keys of a leaf of a cluster tree, without its offset.
    func leafKeys(_ node: RawNode) throws(Loss) -> [Int64] {
        if let count = node.number(inSlot: 0) {
            guard count <= LeafRows.maximumCount else { throw .malformed("absurd leaf") }
            return (0..<Int64(count)).map { $0 }
        }
        let keys = try child(node, 0)
        guard !keys.hasRefs, keys.widthType == 0, keys.count <= LeafRows.maximumCount else { throw .malformed("bad keys") }
        let numbers = (0..<keys.count).map { keys.unsigned($0) }
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .malformed("keys do not ascend") }
        return numbers.map { Int64(bitPattern: $0) }
    }
}
