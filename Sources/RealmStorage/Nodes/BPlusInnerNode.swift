// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// An inner node of a B+ tree, checked: which of its children has an element, and how many elements each of them has.
///
/// An inner node of n children has n + 2 slots: 0 is a number e (every child but the last has e elements) or a ref to n - 1
/// ascending offsets, 1 to n are the children, n + 1 is the total. Compact form means that all children but the last are
/// equally full, which is what appending makes. Any other change gives the node offsets. The sizes are claims that walks
/// compare with what they find. Source: docs/format.md, "B+ trees".
package struct BPlusInnerNode {
    /// The greatest number of inner levels that is accepted; eight are enough for any real file.
    static let maximumDepth = 16
    /// The greatest number of elements that is accepted: more than any file has room for, and far
    /// from where sums of counts overflow.
    package static let maximumCount = 1 << 48

    /// The node that is viewed.
    let node: Node
    /// How many children the node has; at least one.
    let childCount: Int
    /// How many elements all children have together, as the node states.
    let total: Int
    /// How many elements each child but the last has, in compact form; 0 otherwise.
    private let childSize: Int
    /// The positions of the first elements of all children but the first; nil in compact form.
    private let offsets: PackedOffsets?

    /// Attaches an inner node and checks its shape.
    ///
    /// - Throws: `.corrupt` for missing children or offsets, or an impossible total.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        guard node.count >= 3 else { throw node.corrupt("an inner node without children") }
        self.node = node
        childCount = node.count - 2
        total = Int(clamping: try node.number(node.count - 1, "element count of a tree"))
        guard total <= BPlusInnerNode.maximumCount else { throw node.corrupt("a tree of \(total) elements") }
        switch try node.slot(0) {
        case .tagged(let size):
            guard size > 0 || childCount == 1 else { throw node.corrupt("children of 0 elements") }
            childSize = Int(clamping: size)
            offsets = nil
        case .ref(let ref):
            childSize = 0
            let list = try PackedOffsets(try space.node(at: ref))
            guard list.count == childCount - 1 else {
                throw node.corrupt("\(list.count) offsets for \(childCount) children")
            }
            offsets = list
        case .none: throw node.corrupt("an inner node without offsets")
        }
    }

    /// Returns the ref of child `index`; throws `.corrupt` when the slot holds none.
    func ref(_ index: Int) throws(StorageError) -> Ref { try node.requiredRef(index + 1, "child of a tree") }

    /// Returns the child that should have element `index`, and the number of elements in the children before it.
    func child(containing index: Int) -> (index: Int, start: Int) {
        guard let offsets else {
            let child = childSize == 0 ? 0 : min(index / childSize, childCount - 1)
            return (child, child &* childSize)
        }
        let child = offsets.upperBound(UInt64(clamping: index))
        return (child, child == 0 ? 0 : Int(clamping: offsets[child - 1]))
    }

    /// Returns how many elements child `index` has by the counts of this node; nil when they are impossible.
    func promisedCount(_ index: Int) -> Int? {
        let start = startOfChild(index)
        let end = index == childCount - 1 ? total : startOfChild(index + 1)
        return end >= start ? end - start : nil
    }

    /// Returns how many elements child `index` has by the counts of this node; throws `.corrupt` when they are impossible.
    func requiredCount(_ index: Int) throws(StorageError) -> Int {
        guard let count = promisedCount(index) else { throw node.corrupt("the offsets of an inner node do not ascend") }
        return count
    }

    /// Makes the error for a leaf that has fewer elements than the nodes above it state.
    static func tooShort(_ leaf: Node, count: Int) -> StorageError {
        leaf.corrupt("a leaf of \(count) elements where its parent promises more")
    }

    /// Throws `.corrupt` for more levels of inner nodes than any file has.
    static func requireDepth(_ levels: Int, _ node: Node) throws(StorageError) {
        guard levels <= maximumDepth else { throw node.corrupt("a B+ tree of too many levels") }
    }

    /// Whether the node has no offsets: every child but the last has the same number of elements.
    var isCompact: Bool { offsets == nil }

    /// Returns whether the node is compact and states this size for its children.
    func states(childSize size: Int) -> Bool { offsets == nil && childSize == size }

    /// Returns the position of the first element of child `index` among those of this node.
    func startOfChild(_ index: Int) -> Int {
        guard index > 0 else { return 0 }
        guard let offsets else {
            let (start, isTooLarge) = index.multipliedReportingOverflow(by: childSize)
            return isTooLarge ? .max : start
        }
        return Int(clamping: offsets[index - 1])
    }

    /// Returns the leaf below `root` that should have element `index`, and the position of the leaf's first element.
    ///
    /// Inner nodes of a damaged file may state counts that their leaves do not have, so the caller
    /// compares the row with the leaf's count.
    ///
    /// - Throws: `.corrupt` for a tree of too many levels.
    /// - Complexity: O(depth).
    package static func leafNode(
        for index: Int, below root: Ref, _ space: NodeSpace
    ) throws(StorageError) -> (node: Node, start: Int) {
        var node = try space.node(at: root)
        var start = 0
        for _ in 0..<maximumDepth {
            guard node.isInner else { return (node, start) }
            let inner = try BPlusInnerNode(node, space)
            let child = inner.child(containing: index &- start)
            start &+= child.start
            node = try space.node(at: try inner.ref(child.index))
        }
        throw node.corrupt("a B+ tree deeper than \(maximumDepth) levels")
    }
}
