// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Reads the tables and leaves of all versions, the newest first, and notes what is not theirs any more.
final class VersionReading {
    /// The bytes.
    private let map: SpaceMap
    /// The possible writes of commits.
    let chain: VersionChain
    /// The known tables.
    private let catalog: TableCatalog
    private let present: FormerVersion
    /// The same, as far as unused space names it.
    private(set) var index: PresentIndex
    /// The former versions by ascending number.
    private let versions: [FormerVersion]
    /// The roles of nodes outside of the present version, in the newest version that has them.
    private var labels: [UInt64: NodeRole] = [:]
    /// The nodes below leaves that are something else, by leaf.
    private var refusedBelow: [UInt64: [UInt64]] = [:]
    /// Nodes that would have to be two things at once.
    private var conflicts: NodeRoles?

    /// The most rounds in which shared rows are looked for.
    private static let maximumRounds = 8

    /// Makes a reading, and reads the present version.
    init(_ recovery: Recovery, chain: VersionChain) {
        (map, self.chain, catalog) = (recovery.map, chain, recovery.catalog)
        (present, versions) = (recovery.present, recovery.versions)
        if present.top.tablesRef != 0 {
            if let (tables, lostCount) = try? present.reader.tables(of: present.top, known: { recovery.catalog.known($0) }) {
                (present.tables, present.lostTableCount) = (tables, lostCount)
            }
            for table in present.tables { catalog.add(table, version: present.number) }
        }
        index = PresentIndex(present, map: map)
    }

    func read() {
        for version in versions { version.reader = reader(of: version) }
        for version in versions.sorted(by: { ($1.number, $0.top.ref) < ($0.number, $1.top.ref) }) where !map.budget.isUsedUp {
            read(version)
        }
        placeLeaves()
    }

    /// Settles where leaves belong in their trees.
    ///
    /// An offset that was read from nodes which are not proved may be of another time. The base of a leaf's keys never changes,
    /// so a version that surely has the leaf, and surely leads to it, determines it for all.
    private func placeLeaves() {
        var offsets: [UInt64: Int64] = [:]
        for version in versions {
            for rows in version.leaves where rows.isPlaced {
                guard chain.survival(rows.node.ref, rows.node.byteCount, in: version.number) == .untouched else { continue }
                offsets[rows.node.ref] = rows.offset
            }
        }
        for version in versions {
            version.leaves = version.leaves.compactMap { rows in
                guard let offset = offsets[rows.node.ref] else { return rows }
                guard offset == rows.offset else {
                    version.hasGaps = true
                    version.lostCount += 1
                    return nil
                }
                var placed = rows
                placed.isPlaced = true
                return placed
            }
        }
    }

    /// Settles where leaves belong that were written in one run with the nodes that their offsets were read from, and notes
    /// where embedded objects are.
    func placeWrittenLeaves(_ evidence: LeafEvidence) {
        for version in versions {
            for (leaf, rows) in version.leaves.enumerated() where !rows.isPlaced {
                let run = evidence.run(of: rows.node.ref)
                let isWritten = run != nil && rows.path.allSatisfy { evidence.run(of: $0) == run }
                version.leaves[leaf].isPlaced =
                    isWritten
                    || rows.offset == 0
                        && (catalog.hasRootLeavesOnly(rows.table.key, present.reader)
                            || catalog.hasLeavesAsRoots(rows.table.key, map))
            }
            for (leaf, rows) in version.leaves.enumerated() where rows.table.isEmbedded && rows.isPlaced {
                for (row, key) in rows.keys.enumerated() {
                    version.embeddedRows[ObjectPlace(table: rows.table.key, key: key)] = (leaf, row)
                }
            }
        }
    }

    /// Returns a reader that refuses what is not a version's any more.
    private func reader(of version: FormerVersion) -> NodeReader {
        let format = present.reader.format
        let reader = NodeReader(map, format: format, clusterShift: present.reader.clusterShift) { _, _ in nil }
        reader.distrust = { [unowned self, unowned version, unowned reader] ref, byteCount in
            if version.refused.contains(ref) { return .usedForSomethingElse }
            if let loss = map.damage(ref, byteCount) { return loss }
            switch chain.survival(ref, byteCount, in: version.number) {
            case .untouched: return nil
            case .gone(let number): return .usedAgain(by: number)
            case .maybe:
                return reader.isStrict && conflicts?.conflicted.contains(ref) == true ? .usedForSomethingElse : nil
            }
        }
        reader.isUntouched = { [unowned self, unowned version] ref, byteCount in
            chain.survival(ref, byteCount, in: version.number) == .untouched
        }
        return reader
    }

    /// Has nodes refused that would have to be two things at once, where nothing speaks for one of them.
    func refuseConflicts(_ roles: NodeRoles) { conflicts = roles }

    // MARK: - One version

    private func read(_ version: FormerVersion) {
        do throws(Loss) {
            (version.tables, version.lostTableCount) = try version.reader.tables(of: version.top) { self.catalog.known($0) }
        } catch {
            version.lostCount = 1
            return
        }
        version.lostCount = version.lostTableCount
        walkNodes(of: version)
        refuseOthers(version)
        for table in version.tables {
            catalog.add(table, version: version.number)
            walk(table, of: version) { step in
                switch step {
                case .gap:
                    version.hasGaps = true
                    version.lostCount += 1
                case .leaf(let rows):
                    guard map.budget.spend() else { return }
                    version.leafSizes.insert(rows.count)
                    version.leaves.append(rows)
                }
            }
        }
    }

    /// Counts the nodes of a version, those that are gone and those that are not proved.
    private func walkNodes(of version: FormerVersion) {
        var seen: Set<UInt64> = []
        var stack = [version.top.ref]
        while let ref = stack.popLast() {
            guard seen.insert(ref).inserted else { continue }
            guard let node = try? map.node(at: ref), map.damage(ref, node.byteCount) == nil else {
                if map.budget.isUsedUp { return }
                version.lostCount += 1
                continue
            }
            let survival = chain.survival(ref, node.byteCount, in: version.number)
            if case .gone = survival {
                version.lostCount += 1
                continue
            }
            let isShared = map.present.contains(ref)
            let count = isShared ? index.nodeCount(below: ref) : 1
            version.nodeCount += count
            if survival == .maybe { version.unprovenCount += count }
            guard !isShared else { continue }
            version.nodes.append(SpaceMap.NodeExtent(ref: ref, byteCount: node.byteCount))
            guard node.hasRefs else { continue }
            for slot in 0..<node.count { if let child = node.child(slot) { stack.append(child) } }
        }
    }

    /// Walks over the leaves of a table that are not shared with the present version, and notes those that are.
    private func walk(_ table: FormerTable, of version: FormerVersion, _ body: (NodeReader.ClusterStep) -> Void) {
        if map.present.contains(table.ref), index.role(of: table.ref) == NodeRole(kind: .table, table: table.key) {
            // The whole table is shared.
            version.sharedClusters.insert(table.clusterRef)
            if let sizes = index.tableSizes[table.key] { version.leafSizes.formUnion(sizes) }
            return
        }
        version.reader.walkClusters(
            table, root: table.clusterRef,
            enters: { ref, _ in
                guard self.map.present.contains(ref) else { return true }
                let role = self.index.role(of: ref)
                let byteCount = self.map.byteCount(at: ref)
                guard role.table == table.key, role.kind == .leaf || role.kind == .cluster else {
                    body(.gap(ref, .usedForSomethingElse))
                    return false
                }
                if case .gone(let number) = self.chain.survival(ref, byteCount, in: version.number) {
                    body(.gap(ref, .usedAgain(by: number)))
                    return false
                }
                version.sharedClusters.insert(ref)
                if let sizes = self.index.innerSizes[ref] { version.leafSizes.formUnion(sizes) }
                if role.kind == .leaf, let node = try? self.map.node(at: ref) {
                    version.leafSizes.insert((try? self.present.reader.leafKeys(node).count) ?? 0)
                }
                return false
            }, body)
    }

    // MARK: - Nodes that are something else

    /// Refuses nodes of a version that are something else in a later one, and so were written again since.
    private func refuseOthers(_ version: FormerVersion) {
        var own: [UInt64: NodeRole] = [:]
        var leaves: [RawNode] = []
        for table in version.tables {
            label(table.ref, NodeRole(kind: .table, table: table.key), &own)
            walk(table, of: version) { step in
                guard case .leaf(let rows) = step else { return }
                let role = NodeRole(kind: .leaf, table: table.key)
                if let known = labels[rows.node.ref], known.isAlike(role), let refused = refusedBelow[rows.node.ref] {
                    // A newer version has the same leaf.
                    version.refused.formUnion(refused)
                    return
                }
                label(rows.node.ref, role, &own)
                leaves.append(rows.node)
                for slot in 0..<rows.node.count {
                    guard let child = rows.node.child(slot) else { continue }
                    labelAll(child, NodeRole(kind: .column, table: table.key, slot: slot), version.reader, into: &own)
                }
            }
        }
        version.sharedClusters = []
        version.leafSizes = LeafPlace.Sizes()
        for (ref, role) in own {
            let known = labels[ref] ?? (map.present.contains(ref) ? index.role(of: ref) : nil)
            guard let known else {
                labels[ref] = role
                continue
            }
            if !known.isAlike(role) { version.refused.insert(ref) }
        }
        version.lostCount += version.refused.count
        for leaf in leaves { refusedBelow[leaf.ref] = version.refused.isEmpty ? [] : refused(below: leaf, version) }
    }

    private func refused(below leaf: RawNode, _ version: FormerVersion) -> [UInt64] {
        var found: [UInt64] = []
        var seen: Set<UInt64> = []
        var stack = [leaf.ref]
        while let ref = stack.popLast() {
            guard seen.insert(ref).inserted, let node = try? map.node(at: ref) else { continue }
            if version.refused.contains(ref) { found.append(ref) }
            guard node.hasRefs, !map.present.contains(ref) else { continue }
            for slot in 0..<node.count { if let child = node.child(slot) { stack.append(child) } }
        }
        return found
    }

    /// Notes what a node is there for, unless that was noted before.
    private func label(_ ref: UInt64, _ role: NodeRole, _ own: inout [UInt64: NodeRole]) {
        if own[ref] == nil { own[ref] = role }
    }

    /// Notes what a node and all below it are there for. Nodes of the present version end the walk.
    private func labelAll(_ root: UInt64, _ role: NodeRole, _ reader: NodeReader, into own: inout [UInt64: NodeRole]) {
        var stack = [root]
        while let ref = stack.popLast() {
            guard own[ref] == nil, let node = try? reader.node(ref) else { continue }
            own[ref] = role
            guard node.hasRefs, !map.present.contains(ref) else { continue }
            for slot in 0..<node.count { if let child = node.child(slot) { stack.append(child) } }
        }
    }

    /// Returns what the nodes below the leaves of all versions would have to be.
    func roles() -> NodeRoles {
        let roles = NodeRoles(map, present: index)
        var seen: Set<LeafPlace> = []
        for version in versions {
            for rows in version.leaves where seen.insert(LeafPlace(rows)).inserted { roles.add(rows) }
            guard !version.isUnfinished else { continue }
            for node in version.nodes where chain.survival(node.ref, node.byteCount, in: version.number) == .untouched {
                roles.addOther(node.ref)
            }
        }
        return roles
    }

    // MARK: - Leaves that are shared

    /// Returns rows in leaves that a version shares with the present one, whose embedded objects were others then.
    func sharedRows(_ version: FormerVersion) -> [LeafRows] {
        var changed: [UInt32: Set<Int64>] = [:]
        for rows in version.leaves where rows.table.isEmbedded && rows.isPlaced {
            changed[rows.table.key, default: []].formUnion(rows.keys)
        }
        guard !changed.isEmpty else { return [] }
        var found: [LeafRows] = []
        var places: [UInt64: Int] = [:]
        for _ in 0..<VersionReading.maximumRounds {
            var isNew = false
            for table in version.tables {
                let columns = table.columns.filter { column in column.targetTable.map { changed[$0] != nil } ?? false }
                guard !columns.isEmpty else { continue }
                index.forEachLeaf(of: table.key) { rows in
                    guard isShared(rows, with: version) else { return }
                    let hits = VersionReading.rows(of: rows, columns, present.reader, withLinksTo: changed)
                    let before = places[rows.node.ref].flatMap { found[$0].rows } ?? []
                    guard !hits.isSubset(of: before) else { return }
                    var chosen = rows
                    chosen.rows = hits.union(before)
                    if let place = places[rows.node.ref] {
                        found[place] = chosen
                    } else {
                        places[rows.node.ref] = found.count
                        found.append(chosen)
                    }
                    guard table.isEmbedded else { return }
                    for row in hits where changed[table.key, default: []].insert(rows.keys[row]).inserted { isNew = true }
                }
            }
            guard isNew, !map.budget.isUsedUp else { break }
        }
        return found
    }

    /// Returns whether a version shares a leaf with the present one.
    private func isShared(_ rows: LeafRows, with version: FormerVersion) -> Bool {
        guard let key = rows.keys.first, let row = index.row(ObjectPlace(table: rows.table.key, key: key)) else { return false }
        return !version.sharedClusters.isDisjoint(with: row.path)
    }

    /// Returns the rows of a leaf that have a link to one of some objects in some columns.
    private static func rows(
        of rows: LeafRows, _ columns: [FormerColumn], _ reader: NodeReader, withLinksTo objects: [UInt32: Set<Int64>]
    ) -> Set<Int> {
        var hits: Set<Int> = []
        for column in columns {
            for (row, cell) in reader.cells(column, rows).enumerated() {
                if case .value(let value) = cell, hasLink(value, objects) { hits.insert(row) }
            }
        }
        return hits
    }

    /// Returns whether a value has a link to one of some objects.
    private static func hasLink(_ value: StoredValue, _ objects: [UInt32: Set<Int64>]) -> Bool {
        switch value {
        case .link(let table?, let key): return objects[table]?.contains(key) ?? false
        case .list(let elements): return elements.contains { hasLink($0, objects) }
        case .dictionary(let entries): return entries.contains { hasLink($0.value, objects) }
        default: return false
        }
    }
}
