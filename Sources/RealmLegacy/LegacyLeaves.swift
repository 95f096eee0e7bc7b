// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Walks the leaves of a B+ tree in the order of its rows.
///
/// Counts in inner nodes are not needed for that and not looked at. Leaves of refs have the has-refs flag, but never the inner flag.
struct LegacyLeaves {
    /// The pass that the walk belongs to.
    private let reading: LegacyReading
    /// The root, until it was visited.
    private var pending: Ref?
    /// The inner nodes from the root down to the present leaf, each with the slot of its next child.
    private var frames: [(node: Node, next: Int)] = []

    /// The greatest number of inner levels.
    static let maximumDepth = 16

    /// Makes a cursor in front of the first leaf; no node is read yet.
    init(_ root: Ref, _ reading: LegacyReading) {
        self.reading = reading
        pending = root
    }

    /// Returns the next leaf; nil at the end.
    mutating func next() throws(StorageError) -> Node? {
        while let ref = try nextRef() {
            let node = try reading.node(at: ref)
            guard node.isInner else {
                guard node.count <= LegacyReading.maximumLeafCount else {
                    throw node.corrupt("a leaf that claims \(node.count) elements")
                }
                return node
            }
            try LegacyLeaves.checkInner(node)
            guard frames.count < LegacyLeaves.maximumDepth else { throw node.corrupt("a tree of too many levels") }
            frames.append((node, 1))
        }
        return nil
    }

    /// Has the inner nodes decrypted again, after pages were given back.
    func renew() throws(StorageError) { for frame in frames { try reading.renew(frame.node.ref) } }

    /// Throws `.corrupt` unless an inner node has children and a total.
    static func checkInner(_ node: Node) throws(StorageError) {
        guard node.count >= 3, case .tagged = try node.slot(node.count - 1) else {
            throw node.corrupt("an inner node without children or total")
        }
    }

    /// Returns the next node in order; nil at the end.
    private mutating func nextRef() throws(StorageError) -> Ref? {
        if let first = pending {
            pending = nil
            return first
        }
        while let frame = frames.last {
            guard frame.next < frame.node.count - 1 else {
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].next += 1
            return try frame.node.requiredRef(frame.next, "child of a tree")
        }
        return nil
    }
}
