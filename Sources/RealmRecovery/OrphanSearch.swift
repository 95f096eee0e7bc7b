// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Leaves of cluster trees in unused space that no version leads to, and the tables that they are of.
///
/// A leaf is given to a table by a parent that is still there, by a column that it shares with a known leaf, or, where its form
/// fits exactly one class, by its form.
final class OrphanSearch {
    /// A leaf that was found.
    struct Orphan {
        /// The leaf with its table.
        let rows: LeafRows
        /// How it was given to the table.
        let origin: RecoveredLeaf.Origin
        /// Whether its place in the tree is known.
        let isOffsetKnown: Bool
    }

    /// A table, and what keys of a leaf of it are counted from.
    private struct Home: Hashable {
        /// The key of the table.
        let table: UInt32
        /// The offset of the leaf.
        let offset: Int64
    }

    /// A slot of leaves of a table that has some node.
    private struct Use: Hashable {
        /// Where the leaf is.
        let home: Home
        let slot: Int
    }

    /// The bytes.
    private let map: SpaceMap
    /// The known tables.
    private let catalog: TableCatalog
    /// The present version.
    private let index: PresentIndex
    /// Reads nodes that no known version has.
    private let reader: NodeReader
    /// The tables and offsets of leaves, from tables and inner nodes in unused space.
    private var parents: [UInt64: [Home]] = [:]
    /// The tables and offsets of known leaves.
    private var homes: [UInt64: [Home]] = [:]
    /// The uses of nodes by known leaves.
    private var uses: [UInt64: [Use]] = [:]
    /// The leaves that were read as part of a version.
    private var known: Set<UInt64> = []
    private var schemas: [(key: UInt32, tables: [FormerTable])] = []

    /// The most different schemas that a leaf is compared with.
    private static let maximumSchemas = 1024

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - versions: All former versions, with their leaves.
    ///   - reader: Reads nodes of versions before the known ones.
    init(_ map: SpaceMap, catalog: TableCatalog, index: PresentIndex, versions: [FormerVersion], reader: NodeReader) {
        (self.map, self.catalog, self.index, self.reader) = (map, catalog, index, reader)
        for version in versions {
            for rows in version.leaves { note(rows) }
        }
    }

    /// Notes a leaf that a version leads to.
    private func note(_ rows: LeafRows) {
        let leaf = rows.node
        known.insert(leaf.ref)
        let home = Home(table: rows.table.key, offset: rows.offset)
        guard homes[leaf.ref]?.contains(home) != true else { return }
        homes[leaf.ref, default: []].append(home)
        for slot in 1..<max(leaf.count, 1) {
            guard let child = leaf.child(slot) else { continue }
            let use = Use(home: home, slot: slot)
            if uses[child]?.contains(use) != true { uses[child, default: []].append(use) }
        }
    }

    /// Returns the leaves that no version leads to, in the order of their offsets.
    func orphans() -> [Orphan] {
        findTables()
        schemas = catalog.keys.map { ($0, catalog.schemas($0)) }
        findInnerNodes()
        var orphans: [Orphan] = []
        forEachNode { node in
            guard !known.contains(node.ref), !node.isInner, !node.hasContext, node.count >= 2, let orphan = orphan(node) else {
                return
            }
            orphans.append(orphan)
        }
        return orphans
    }

    /// Calls `body` with every whole node with refs in unused space.
    private func forEachNode(_ body: (RawNode) -> Void) {
        map.forEachHeader { node in
            if node.hasRefs, map.damage(node.ref, node.byteCount) == nil { body(node) }
        }
    }

    // MARK: - Parents

    /// Finds tables that no version leads to.
    private func findTables() {
        forEachNode { node in
            guard !node.isInner, (10...16).contains(node.count),
                let table = try? reader.table(node.ref, name: nil, known: { self.catalog.known($0) })
            else { return }
            if !catalog.hasTable(table.key, at: table.ref), table.schemaSource != .inferred { catalog.add(table, version: nil) }
            reader.walkClusters(table, root: table.clusterRef, enters: { ref, _ in !self.map.present.contains(ref) }) { step in
                if case .leaf(let rows) = step { addParent(of: rows.node.ref, Home(table: table.key, offset: rows.offset)) }
            }
        }
    }

    /// Finds inner nodes that no table leads to: the table of a child is that of all.
    private func findInnerNodes() {
        forEachNode { node in
            guard node.isInner, node.count >= 4, node.number(inSlot: 1) == 1 else { return }
            var below: [(ref: UInt64, offset: Int64)] = []
            guard let (_, offsets) = try? reader.children(of: node, depth: 1) else { return }
            for (position, offset) in offsets.enumerated() {
                guard let child = node.child(position + 3), (try? reader.node(child)) != nil else { continue }
                below.append((child, offset))
            }
            var found: Set<Home> = []
            for child in below {
                for home in homes(of: child.ref) { found.insert(Home(table: home.table, offset: home.offset &- child.offset)) }
            }
            guard found.count == 1, let home = found.first else { return }
            for child in below { addParent(of: child.ref, Home(table: home.table, offset: home.offset &+ child.offset)) }
        }
    }

    /// Returns the known homes of a leaf.
    private func homes(of leaf: UInt64) -> [Home] {
        if let place = index.places[leaf], place.role.kind == .leaf {
            return [Home(table: place.role.table, offset: place.offset)]
        }
        return (homes[leaf] ?? []) + (parents[leaf] ?? [])
    }

    /// Notes a parent of a leaf.
    private func addParent(of leaf: UInt64, _ home: Home) {
        if parents[leaf]?.contains(home) != true { parents[leaf, default: []].append(home) }
    }

    // MARK: - Leaves

    /// Returns a leaf with its table; nil for a node that is no leaf of a known table.
    private func orphan(_ node: RawNode) -> Orphan? {
        guard node.slot(0) != 0, let keys = try? reader.leafKeys(node), !keys.isEmpty else { return nil }
        let parents = self.parents[node.ref]
        var shared: [UInt32: (count: Int, offsets: Set<Int64>)] = [:]
        for slot in 1..<node.count {
            guard let child = node.child(slot) else { continue }
            for use in uses(of: child) where use.slot == slot {
                shared[use.home.table, default: (0, [])].count += 1
                shared[use.home.table, default: (0, [])].offsets.insert(use.home.offset)
            }
        }
        var wanted: Set<UInt32>?
        if let parents {
            wanted = Set(parents.map(\.table))
        } else if let most = shared.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) }) {
            wanted = [most.key]
        }
        guard let table = bestTable(node, keys, among: wanted) else { return nil }
        var (origin, offset, isKnown) = (RecoveredLeaf.Origin.shape, Int64(0), false)
        if let parents {
            let offsets = parents.filter { $0.table == table.key }.map(\.offset)
            (origin, isKnown) = (.parent, Set(offsets).count == 1)
            offset = offsets.first ?? 0
        } else if let uses = shared[table.key] {
            origin = .shared
            if uses.offsets.count == 1, let only = uses.offsets.first { (offset, isKnown) = (only, true) }
        }
        if !isKnown, catalog.hasRootLeavesOnly(table.key, reader) { (offset, isKnown) = (0, true) }
        return Orphan(
            rows: LeafRows(table: table, node: node, offset: offset, relativeKeys: keys), origin: origin, isOffsetKnown: isKnown)
    }

    /// Returns the uses of a node by known leaves.
    private func uses(of child: UInt64) -> [Use] {
        var found = uses[child] ?? []
        if let place = index.places[child], place.role.kind == .column, place.role.depth == 0 {
            found.append(Use(home: Home(table: place.role.table, offset: place.offset), slot: place.role.slot))
        }
        return found
    }

    /// A measure of the fit of a leaf to a table.
    private struct Fit: Comparable {
        /// The columns that can be read.
        let good: Int
        /// The columns that cannot.
        let bad: Int

        static func < (left: Fit, right: Fit) -> Bool { (left.good, right.bad) < (right.good, left.bad) }
    }

    /// Returns the table whose columns fit a leaf best; nil when none does, or by form alone several do.
    private func bestTable(_ node: RawNode, _ keys: [Int64], among wanted: Set<UInt32>?) -> FormerTable? {
        var best: (fit: Fit, table: FormerTable)?
        var tables: Set<UInt32> = []
        for (key, schemas) in schemas.prefix(OrphanSearch.maximumSchemas) where wanted?.contains(key) ?? true {
            for table in schemas {
                guard let fit = fit(node, keys, table) else { continue }
                if let known = best, fit < known.fit { continue }
                if best.map({ $0.fit < fit }) ?? true {
                    best = (fit, table)
                    tables = []
                }
                tables.insert(table.key)
            }
        }
        guard let best, best.fit.good > 0 else { return nil }
        // By form alone every column must fit, and only one class may.
        if wanted == nil { guard best.fit.bad == 0, best.fit.good >= 2, tables.count == 1 else { return nil } }
        return best.table
    }

    /// Returns how well a leaf fits a table; nil when it has columns that the table lacks, or lacks some.
    private func fit(_ node: RawNode, _ keys: [Int64], _ table: FormerTable) -> Fit? {
        let columns = table.columns + table.backlinks
        let used = Set(columns.map(\.index))
        guard let last = used.max(), node.count >= last + 2, map.budget.spend(node.count / 16) else { return nil }
        guard (0..<node.count - 1).allSatisfy({ (node.child($0 + 1) != nil) == used.contains($0) }) else { return nil }
        let rows = LeafRows(table: table, node: node, offset: 0, relativeKeys: keys)
        var good = 0
        for column in columns where fits(column, rows) { good += 1 }
        reader.forgetJoined()
        return Fit(good: good, bad: columns.count - good)
    }

    /// Returns whether some values of a column of a leaf can be read.
    private func fits(_ column: FormerColumn, _ rows: LeafRows) -> Bool {
        guard column.kind == .backlink else { return reader.cells(column, rows).contains { !$0.isLost } }
        guard let ref = rows.column(column.index), let leaf = try? reader.node(ref) else { return false }
        return leaf.hasRefs && leaf.count == rows.count
    }
}
