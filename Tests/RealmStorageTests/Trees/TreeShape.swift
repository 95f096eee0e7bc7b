// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import Testing

@testable import RealmStorage

/// Checks the rules that writers of trees must keep and that readers do not all insist on.
struct TreeShape {
    let space: NodeSpace
    var problems: [String] = []

    init(_ space: NodeSpace) { self.space = space }

    // MARK: - B+ trees

    private struct Branch {
        let count: Int
        let height: Int
        let isGeneral: Bool
    }

    mutating func checkBPlusTree(_ root: Ref, _ shape: ElementShape, leafCapacity: Int, fanOut: Int) throws {
        guard !root.isNone else { return }
        let node = try space.node(at: root)
        if node.isInner, node.count < 4 { problems.append("an inner root with one child") }
        _ = try bPlusNode(root, shape, leafCapacity, fanOut, isRoot: true)
        if shape.type == .link { try checkFlag(node, shape) }
    }

    private func checkFlag(_ root: Node, _ shape: ElementShape) throws {
        var cursor = try BPlusTree(root: root.ref, space: space, shape: shape).leaves()
        var hasUnresolved = false
        while let (leaf, _) = try cursor.next() {
            guard case .link(let links) = leaf else { continue }
            for row in 0..<links.count where links.key(row).rawValue < 0 { hasUnresolved = true }
        }
        #expect(root.hasContext == hasUnresolved, "the root's flag differs from the links below it")
    }

    private mutating func bPlusNode(
        _ ref: Ref, _ shape: ElementShape, _ leafCapacity: Int, _ fanOut: Int, isRoot: Bool
    ) throws -> Branch {
        let node = try space.node(at: ref)
        if !isRoot, shape.type == .link, node.hasContext { problems.append("a flag below the root") }
        guard node.isInner else {
            let count = try ColumnLeaf(node, space, shape, inCluster: false).count
            if count == 0, !isRoot { problems.append("an empty leaf") }
            if count > leafCapacity { problems.append("a leaf of \(count)") }
            return Branch(count: count, height: 0, isGeneral: false)
        }
        if node.count - 2 > fanOut { problems.append("an inner node of \(node.count - 2) children") }
        var children: [Branch] = []
        for index in 1..<node.count - 1 {
            children.append(try bPlusNode(try node.requiredRef(index, "child"), shape, leafCapacity, fanOut, isRoot: false))
        }
        let total = children.reduce(0) { $0 + $1.count }
        if try node.number(node.count - 1, "total") != total { problems.append("a wrong total") }
        if Set(children.map(\.height)).count != 1 { problems.append("children of different heights") }
        let height = (children.first?.height ?? 0) + 1
        switch try node.slot(0) {
        case .tagged(let size):
            checkCompact(children, Int(size), height, leafCapacity, fanOut)
            return Branch(count: total, height: height, isGeneral: false)
        case .ref(let ref): try checkOffsets(ref, children)
        case .none: problems.append("no offsets")
        }
        return Branch(count: total, height: height, isGeneral: true)
    }

    private mutating func checkCompact(_ children: [Branch], _ size: Int, _ height: Int, _ leafCapacity: Int, _ fanOut: Int) {
        let full = (1..<height).reduce(leafCapacity) { size, _ in size * fanOut }
        if size != full { problems.append("compact with \(size) instead of \(full)") }
        if children.dropLast().contains(where: { $0.count != full }) { problems.append("compact with a child not full") }
        if let last = children.last, last.count > full { problems.append("compact with a last child too large") }
        if children.contains(where: \.isGeneral) { problems.append("compact above a node with offsets") }
    }

    private mutating func checkOffsets(_ ref: Ref, _ children: [Branch]) throws {
        let list = try space.node(at: ref)
        if list.width < 8 { problems.append("offsets of width \(list.width)") }
        if list.hasRefs { problems.append("offsets with refs") }
        var sum = 0
        var wanted: [UInt64] = []
        for child in children.dropLast() {
            sum += child.count
            wanted.append(UInt64(sum))
        }
        if (0..<list.count).map({ list.unsignedInteger($0) }) != wanted { problems.append("wrong offsets") }
    }

    // MARK: - Cluster trees

    private struct Cluster {
        var count = 0
        var depth = 0
    }

    /// Returns the keys in stored order.
    mutating func checkClusterTree(_ root: Ref, _ columns: [ClusterWriter.Column], shift: Int) throws -> [Int64] {
        var keys: [UInt64] = []
        let node = try space.node(at: root)
        if node.isInner, node.count < 5 { problems.append("an inner cluster root with one child") }
        _ = try clusterNode(root, columns, shift, offset: 0, end: nil, isRoot: true, &keys)
        if zip(keys, keys.dropFirst()).contains(where: { $0 >= $1 }) { problems.append("keys do not ascend") }
        return keys.map { Int64(bitPattern: $0) }
    }

    private mutating func clusterNode(
        _ ref: Ref, _ columns: [ClusterWriter.Column], _ shift: Int, offset: UInt64, end: UInt64?, isRoot: Bool,
        _ keys: inout [UInt64]
    ) throws -> Cluster {
        let node = try space.node(at: ref)
        guard node.isInner else {
            return Cluster(count: try clusterLeaf(node, columns, shift, offset, end, isRoot, &keys))
        }
        let childCount = node.count - 3
        if childCount > 1 << shift { problems.append("an inner cluster node of \(childCount)") }
        let depth = Int(try node.number(1, "depth"))
        let list = try node.optionalRef(0, "offsets")
        var offsets = (0..<childCount).map { UInt64($0) << UInt64(shift * depth) }
        if !list.isNone {
            let stored = try space.node(at: list)
            if stored.width < 8 { problems.append("cluster offsets of width \(stored.width)") }
            offsets = (0..<stored.count).map { stored.unsignedInteger($0) }
        }
        if offsets.count != childCount || offsets.first != 0 { problems.append("bad cluster offsets") }
        var total = 0
        for child in 0..<childCount {
            let childEnd = child + 1 < childCount ? offset &+ offsets[child + 1] : end
            let below = try clusterNode(
                try node.requiredRef(3 + child, "child"), columns, shift, offset: offset &+ offsets[child], end: childEnd,
                isRoot: false, &keys)
            if below.depth != depth - 1 { problems.append("a child of depth \(below.depth) below \(depth)") }
            total += below.count
        }
        if try node.number(2, "size") != total { problems.append("a wrong cluster size") }
        return Cluster(count: total, depth: depth)
    }

    private mutating func clusterLeaf(
        _ node: Node, _ columns: [ClusterWriter.Column], _ shift: Int, _ offset: UInt64, _ end: UInt64?, _ isRoot: Bool,
        _ keys: inout [UInt64]
    ) throws -> Int {
        let leaf = try ClusterLeaf(node, space, offset: offset)
        if leaf.count == 0, !isRoot { problems.append("an empty cluster leaf") }
        if leaf.count > 1 << shift { problems.append("a cluster leaf of \(leaf.count)") }
        if case .ref(let list) = try node.slot(0), try space.node(at: list).width < 8 { problems.append("narrow keys") }
        for row in 0..<leaf.count {
            let key = UInt64(bitPattern: leaf.key(at: row).rawValue)
            if key < offset { problems.append("a key below its leaf") }
            if let end, key >= end { problems.append("a key behind its leaf") }
            keys.append(key)
        }
        for column in columns where try column.leaf.count(try node.requiredRef(column.slot, "column")) != leaf.count {
            problems.append("a column of the wrong length")
        }
        return leaf.count
    }
}
