// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The present version as far as former ones refer to it: what its nodes are there for, and its objects by key.
///
/// Former versions share most of their nodes with the present one. Only nodes that are named from unused space are listed here,
/// so the memory depends on the unused space and not on the size of the file.
final class PresentIndex {
    /// The place of a node of the present version.
    struct Place {
        let role: NodeRole
        /// The leaf that has the node, or is it.
        let leaf: UInt64
        /// The base of the keys of that leaf.
        let offset: Int64
    }

    /// The places of the nodes that unused space names, and of all nodes below columns that it names.
    private(set) var places: [UInt64: Place] = [:]
    /// The sizes of all leaves.
    private(set) var leafSizes = LeafPlace.Sizes()
    /// The sizes of the leaves of each table.
    private(set) var tableSizes: [UInt32: LeafPlace.Sizes] = [:]
    /// The sizes of the leaves below inner nodes that unused space names.
    private(set) var innerSizes: [UInt64: LeafPlace.Sizes] = [:]
    /// Whether a part of the version could not be read.
    private(set) var hasGaps = false
    private(set) var nodeCount = 0

    /// The bytes.
    private let map: SpaceMap
    /// Reads nodes of the present version.
    private let reader: NodeReader
    private let tables: [FormerTable]
    /// The nodes that unused space names.
    private var wanted: PlaceMarks
    /// The numbers of nodes below some nodes.
    private var counts: [UInt64: Int] = [:]
    /// The inner nodes above the leaf that is walked over.
    private var path: [UInt64] = []

    /// Looks through the present version.
    init(_ version: FormerVersion, map: SpaceMap) {
        self.map = map
        reader = version.reader
        tables = version.tables
        wanted = PlaceMarks(byteCount: map.limit)
        markWanted()
        nodeCount = map.present.count
        for table in tables { visit(table) }
        wanted = PlaceMarks(byteCount: 0)
    }

    /// Returns what a node of the present version is there for.
    func role(of ref: UInt64) -> NodeRole { places[ref]?.role ?? .other }

    /// Marks the present nodes that whole nodes in unused space refer to.
    private func markWanted() {
        map.forEachHeader { node in
            guard node.hasRefs, map.damage(node.ref, node.byteCount) == nil, map.budget.spend(node.count / 64) else { return }
            for index in 0..<node.count {
                if let child = node.child(index), child & 7 == 0, map.present.contains(child) { wanted.insert(child) }
            }
        }
    }

    // MARK: - Looking through

    /// Notes the places of a table.
    private func visit(_ table: FormerTable) {
        note(table.ref, NodeRole(kind: .table, table: table.key), leaf: 0, offset: 0)
        tableSizes[table.key] = visit(table, table.clusterRef, offset: 0, depth: nil, level: 0)
    }

    /// Notes the places of a part of a cluster tree, and returns the sizes of its leaves.
    private func visit(_ table: FormerTable, _ ref: UInt64, offset: Int64, depth: UInt64?, level: Int) -> LeafPlace.Sizes {
        var sizes = LeafPlace.Sizes()
        guard level <= NodeReader.maximumDepth else { return sizes }
        do throws(Loss) {
            let node = try reader.node(ref)
            guard node.hasRefs, node.count > 0 else { throw .malformed("not a cluster") }
            if !node.isInner {
                let rows = LeafRows(table: table, node: node, offset: offset, relativeKeys: try reader.leafKeys(node))
                sizes.insert(rows.count)
                leafSizes.insert(rows.count)
                visit(rows)
                return sizes
            }
            let (here, offsets) = try reader.children(of: node, depth: depth)
            note(ref, NodeRole(kind: .cluster, table: table.key), leaf: 0, offset: offset)
            for (index, childOffset) in offsets.enumerated() {
                guard let child = node.child(index + 3) else { continue }
                sizes.formUnion(visit(table, child, offset: offset &+ childOffset, depth: here - 1, level: level + 1))
            }
            if wanted.contains(ref) { innerSizes[ref] = sizes }
        } catch {
            hasGaps = true
        }
        return sizes
    }

    /// Notes the places of a leaf and of what is below it.
    private func visit(_ rows: LeafRows) {
        let leaf = rows.node
        note(leaf.ref, NodeRole(kind: .leaf, table: rows.table.key), leaf: leaf.ref, offset: rows.offset)
        for slot in 0..<leaf.count {
            guard let root = leaf.child(slot) else { continue }
            lookBelow(root, NodeRole(kind: .column, table: rows.table.key, slot: slot), rows, isWanted: false)
        }
    }

    /// Notes the places of a node of a column, and of what is below it.
    private func lookBelow(_ ref: UInt64, _ role: NodeRole, _ rows: LeafRows, isWanted: Bool) {
        guard role.depth <= NodeRoles.maximumDepth, let node = try? map.node(at: ref) else { return }
        let isWanted = isWanted || wanted.contains(ref)
        if isWanted { places[ref] = Place(role: role, leaf: rows.node.ref, offset: rows.offset) }
        guard node.hasRefs else { return }
        NodeRoles.forEachChild(of: node, role, in: rows) { child, role in lookBelow(child, role, rows, isWanted: isWanted) }
    }

    /// Notes the place of a node that unused space names.
    private func note(_ ref: UInt64, _ role: NodeRole, leaf: UInt64, offset: Int64) {
        if wanted.contains(ref) { places[ref] = Place(role: role, leaf: leaf, offset: offset) }
    }

    // MARK: - Numbers of nodes

    /// Returns the number of nodes below a node of the present version, and itself.
    func nodeCount(below root: UInt64) -> Int {
        if let count = counts[root] { return count }
        var count = 0
        var stack = [root]
        while let ref = stack.popLast(), count < nodeCount {
            if ref != root, let known = counts[ref] {
                count += known
                continue
            }
            guard let node = try? map.node(at: ref) else { continue }
            count += 1
            guard node.hasRefs else { continue }
            for index in 0..<node.count { if let child = node.child(index) { stack.append(child) } }
        }
        counts[root] = count
        return count
    }

    // MARK: - Objects

    /// The row of an object of the present version.
    struct Row {
        let rows: LeafRows
        /// The row in it.
        let index: Int
        /// The nodes of the cluster tree that lead to it, the leaf included.
        let path: [UInt64]
    }

    /// Returns the row of an object; nil when there is none, or it cannot be read.
    func row(_ place: ObjectPlace) -> Row? {
        guard let table = tables.first(where: { $0.key == place.table }) else { return nil }
        var (ref, offset, path) = (table.clusterRef, Int64(0), [UInt64]())
        var depth: UInt64?
        while path.count <= NodeReader.maximumDepth {
            path.append(ref)
            guard let node = try? reader.node(ref), node.hasRefs, node.count > 0 else { return nil }
            guard node.isInner else {
                guard let keys = try? reader.leafKeys(node) else { return nil }
                let rows = LeafRows(table: table, node: node, offset: offset, relativeKeys: keys)
                guard let index = keys.firstIndex(of: place.key &- offset) else { return nil }
                return Row(rows: rows, index: index, path: path)
            }
            guard let (here, offsets) = try? reader.children(of: node, depth: depth) else { return nil }
            let wanted = UInt64(bitPattern: place.key &- offset)
            // The last child whose keys begin at or before the wanted one.
            var (low, high) = (0, offsets.count)
            while low < high {
                let middle = (low + high) / 2
                if UInt64(bitPattern: offsets[middle]) <= wanted { low = middle + 1 } else { high = middle }
            }
            guard low > 0, let child = node.child(low + 2) else { return nil }
            (ref, offset, depth) = (child, offset &+ offsets[low - 1], here - 1)
        }
        return nil
    }

    /// Calls `body` with all leaves of a table, until the budget is used up.
    func forEachLeaf(of table: UInt32, _ body: (LeafRows) -> Void) {
        guard let table = tables.first(where: { $0.key == table }) else { return }
        reader.walkClusters(table, root: table.clusterRef) { if case .leaf(let rows) = $0 { body(rows) } }
    }
}
