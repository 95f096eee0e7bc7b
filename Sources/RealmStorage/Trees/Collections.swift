// SPDX-License-Identifier: Apache-2.0

/// A list or set, read in place: of a property or nested in Mixed.
///
/// Lists and sets of links leave unresolved links out; elsewhere an unresolved link reads as null.
package struct ListView: Sendable {
    private let tree: BPlusTree
    /// Positions of the visible elements; nil when every element is visible.
    private let visible: [Int]?
    package let count: Int

    /// `mayHoldUnresolved` tells that the target table has tombstones, so that links must be looked through.
    package init(
        root: Ref, space: NodeSpace, shape: ElementShape, mayHoldUnresolved: Bool = false
    ) throws(StorageError) {
        tree = try BPlusTree(root: root, space: space, shape: shape)
        guard shape.type == .link, mayHoldUnresolved else {
            visible = nil
            count = tree.count
            return
        }
        let positions = try ListView.resolvedPositions(tree)
        visible = positions
        count = positions.count
    }

    /// A list nested in Mixed.
    package init(nested root: Ref, space: NodeSpace) throws(StorageError) {
        try self.init(root: root, space: space, shape: .mixed)
    }

    package var isEmpty: Bool { count == 0 }
    package var shape: ElementShape { tree.shape }

    /// The element at `index`, which must be in `0..<count`.
    package func value(at index: Int) throws(StorageError) -> Value {
        try tree.value(at: visible.map { $0[index] } ?? index)
    }

    /// Where the element at `index` is stored, unresolved links counted; the end for `count`.
    package func storedIndex(of index: Int) -> Int {
        guard let visible else { return index }
        return index < visible.count ? visible[index] : tree.count
    }

    /// The elements in order. A walk that goes on into nested collections gives all of them the same `budget`.
    package func elements(within budget: WalkBudget? = nil) -> ElementCursor {
        ElementCursor(tree, skipsUnresolved: visible != nil, within: budget)
    }

    /// The leaves, for kernels over whole runs. Unresolved links are in them.
    package func leaves() -> LeafCursor { tree.leaves() }

    private static func resolvedPositions(_ tree: BPlusTree) throws(StorageError) -> [Int] {
        var positions: [Int] = []
        var cursor = tree.leaves()
        while let (leaf, start) = try cursor.next() {
            guard case .link(let links) = leaf else { continue }
            for row in 0..<links.count where links.key(row).rawValue >= 0 { positions.append(start + row) }
        }
        return positions
    }
}

/// Walks the elements of a collection in order.
package struct ElementCursor: Sendable {
    private var leaves: LeafCursor
    private var leaf: ColumnLeaf?
    private var row = 0
    private let skipsUnresolved: Bool

    init(_ tree: BPlusTree, skipsUnresolved: Bool = false, within budget: WalkBudget? = nil) {
        leaves = tree.leaves(within: budget)
        self.skipsUnresolved = skipsUnresolved
    }

    package mutating func next() throws(StorageError) -> Value? {
        while true {
            if let leaf, row < leaf.count {
                row += 1
                if skipsUnresolved, case .link(let links) = leaf, links.key(row - 1).rawValue < 0 { continue }
                return try leaf.value(row - 1)
            }
            guard let (next, _) = try leaves.next() else { return nil }
            leaf = next
            row = 0
        }
    }
}

/// Incoming links of one object from one origin column: object keys of the origin table, in no particular order.
package struct BacklinkView: Sendable {
    private enum Form: Sendable {
        case none
        case one(ObjectKey)
        case many(BPlusTree)
    }

    private let form: Form
    package let count: Int

    init(_ slot: Node.Slot, _ space: NodeSpace) throws(StorageError) {
        switch slot {
        case .none:
            form = .none
            count = 0
        case .tagged(let key):
            form = .one(ObjectKey(Int64(key)))
            count = 1
        case .ref(let ref):
            let tree = try BPlusTree(root: ref, space: space, shape: ElementShape(type: .int, isNullable: false))
            form = .many(tree)
            count = tree.count
        }
    }

    /// All origin keys, as stored.
    package func keys() throws(StorageError) -> [ObjectKey] {
        switch form {
        case .none: return []
        case .one(let key): return [key]
        case .many(let tree): return try tree.objectKeys()
        }
    }
}

extension ClusterLeaf {
    /// The incoming links of `row` through a backlink column.
    package func backlinks(_ column: Column, row: Int) throws(StorageError) -> BacklinkView {
        try BacklinkView(try attachRefs(column).slot(row), space)
    }

    /// The root of the collection that `row` holds, `Ref.none` when it is empty.
    package func collectionRoot(_ column: Column, row: Int) throws(StorageError) -> Ref {
        try attachRefs(column).optionalRef(row, "collection in column '\(column.name)'")
    }
}
