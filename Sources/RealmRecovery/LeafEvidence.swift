// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Why the children of leaves are believed to be what their leaves meant.
///
/// The danger is not damage but reuse in the same shape: where a column of sixty integers was, sixty newer ones may lie, and
/// the old leaf still refers to them. Source: docs/recovery.md, "Why a value is believed".
final class LeafEvidence {
    /// The strengths of evidence, the strongest first.
    enum Strength: String {
        /// A version that surely has the leaf also surely has the child. Leaves are never changed in place, so this holds for
        /// all versions.
        case proved
        /// Leaf and child lie in one run of nodes without a gap, which one commit wrote.
        case written
        /// No commit that may have written there had a leaf with as many rows.
        case supported
        /// Nothing speaks against it.
        case maybe

        /// Whether values may be believed without more evidence.
        var isSure: Bool { self == .proved || self == .written }
    }

    /// A slot of a leaf.
    private struct Place: Hashable {
        let leaf: UInt64
        let slot: Int
    }

    /// The most versions of a leaf for which support is looked for.
    private static let maximumVersions = 8

    /// The bytes.
    private let map: SpaceMap
    /// The possible writes of commits.
    private let chain: VersionChain
    /// The present version.
    private let present: PresentIndex
    /// Reads keys of leaves, whatever version they are of.
    private let reader: NodeReader

    /// The numbers of the versions that have a leaf, or may have it.
    private var containing: [UInt64: [UInt64]] = [:]
    /// The numbers of the versions that surely have a leaf.
    private var homes: [UInt64: [UInt64]] = [:]
    /// The surely known places of children.
    private var claims: [UInt64: [Place]] = [:]
    /// The sizes of all leaves of the versions that can be read completely, by ascending number.
    private var sizes: [(number: UInt64, sizes: LeafPlace.Sizes)] = []
    /// The runs of nodes without a gap, by node.
    private var runs: [UInt64: Int32] = [:]
    /// The nodes below refs; nil where one of them is not whole.
    private var subtrees: [UInt64: [SpaceMap.NodeExtent]?] = [:]
    /// The strengths that were found.
    private var strengths: [Place: Strength] = [:]
    /// The keys of leaves.
    private var keys: [UInt64: [Int64]?] = [:]

    /// Looks at all versions.
    ///
    /// - Parameters:
    ///   - versions: The versions in ascending order; unfinished ones prove nothing.
    ///   - index: The present version as far as unused space names it.
    ///   - chain: The possible writes of commits.
    ///   - map: The bytes.
    init(_ versions: [FormerVersion], present: FormerVersion, index: PresentIndex, chain: VersionChain, map: SpaceMap) {
        self.map = map
        self.chain = chain
        self.present = index
        reader = NodeReader(map, format: present.reader.format, clusterShift: present.reader.clusterShift) { map.damage($0, $1) }
        findRuns(endingAt: Set(versions.map(\.top.ref) + [present.top.ref]))
        if !index.hasGaps, present.lostTableCount == 0, !present.tables.isEmpty {
            sizes.append((present.number, index.leafSizes))
        }
        let finished = versions.filter { !$0.isUnfinished }
        for version in finished {
            for rows in version.leaves { containing[rows.node.ref, default: []].append(version.number) }
            if version.lostTableCount == 0, !version.hasGaps, !version.tables.isEmpty {
                sizes.append((version.number, version.leafSizes))
            }
        }
        sizes.sort { $0.number < $1.number }
        for version in finished {
            for rows in version.leaves where isUntouched(rows.node.ref, rows.node.byteCount, version.number) {
                homes[rows.node.ref, default: []].append(version.number)
            }
        }
        for version in finished {
            for rows in version.leaves { claimChildren(of: rows.node) }
        }
    }

    /// Returns whether some version surely has a leaf.
    func isProved(_ leaf: UInt64) -> Bool { homes[leaf] != nil || map.present.contains(leaf) }

    /// Notes the surely known places of the children of a leaf.
    private func claimChildren(of leaf: RawNode) {
        guard let versions = homes[leaf.ref], !map.present.contains(leaf.ref) else { return }
        for slot in 0..<leaf.count {
            guard let child = leaf.child(slot) else { continue }
            let place = Place(leaf: leaf.ref, slot: slot)
            guard claims[child]?.contains(place) != true, versions.contains(where: { isUntouched(below: child, $0) }) else {
                continue
            }
            claims[child, default: []].append(place)
        }
    }

    /// Returns the surely known places of a node.
    private func places(of child: UInt64) -> [Place] {
        var places = claims[child] ?? []
        if let place = present.places[child], place.role.kind == .column, place.role.depth == 0 {
            places.append(Place(leaf: place.leaf, slot: place.role.slot))
        }
        return places
    }

    // MARK: - Runs

    /// Numbers the runs of whole nodes without a gap between them; a top node ends a run.
    private func findRuns(endingAt tops: Set<UInt64>) {
        var (place, run, end): (UInt64, Int32, UInt64?) = (24, 0, nil)
        while !map.budget.isUsedUp {
            let node = map.present.next(from: place, below: map.limit)
            let header = map.headers.next(from: place, below: node ?? map.limit)
            guard let ref = header ?? node else { return }
            place = ref + 8
            let byteCount = map.byteCount(at: ref)
            guard byteCount > 0, map.damage(ref, byteCount) == nil else { continue }
            if ref != end { run += 1 }
            if !map.present.contains(ref) || present.places[ref] != nil { runs[ref] = run }
            end = tops.contains(ref) ? nil : ref + byteCount
            map.budget.spend()
        }
    }

    /// Returns the run of a node; nil for one that is not whole.
    func run(of ref: UInt64) -> Int32? { runs[ref] }

    // MARK: - Untouched nodes

    /// Returns whether no commit can have written into a node of a version.
    private func isUntouched(_ ref: UInt64, _ byteCount: UInt64, _ number: UInt64) -> Bool {
        chain.survival(ref, byteCount, in: number) == .untouched
    }

    /// Returns whether no commit can have written into any node below a ref of a version.
    private func isUntouched(below ref: UInt64, _ number: UInt64) -> Bool {
        subtree(ref)?.allSatisfy { isUntouched($0.ref, $0.byteCount, number) } ?? false
    }

    /// Returns the nodes below a ref; nil when one of them is not whole.
    func subtree(_ ref: UInt64) -> [SpaceMap.NodeExtent]? {
        if let known = subtrees[ref] { return known }
        let nodes = map.extents(below: ref)
        subtrees[ref] = .some(nodes)
        return nodes
    }

    // MARK: - Strengths

    /// Returns how sure it is that a child of a leaf is what the leaf meant.
    func strength(_ child: UInt64, in rows: LeafRows, slot: Int) -> Strength {
        if map.present.contains(rows.node.ref) { return .proved }
        // The slot does not matter, only the child does.
        let place = Place(leaf: rows.node.ref, slot: Int(truncatingIfNeeded: child))
        if let known = strengths[place] { return known }
        let strength = newStrength(child, in: rows)
        strengths[place] = strength
        return strength
    }

    /// Works out how sure a child of a leaf is.
    private func newStrength(_ child: UInt64, in rows: LeafRows) -> Strength {
        let leaf = rows.node.ref
        if homes[leaf]?.contains(where: { isUntouched(below: child, $0) }) == true { return .proved }
        guard let nodes = subtree(child) else { return .maybe }
        if let home = runs[leaf], nodes.allSatisfy({ runs[$0.ref] == home }) { return .written }
        return isSupported(nodes, leaf: leaf, count: rows.count) ? .supported : .maybe
    }

    /// Returns whether no commit that may have written over some nodes can have written ones of their form: none of the
    /// versions around such a commit has a leaf with as many rows.
    private func isSupported(_ nodes: [SpaceMap.NodeExtent], leaf: UInt64, count: Int) -> Bool {
        guard count > 0, let versions = containing[leaf] else { return false }
        // Older versions have more commits after them, and more known ones before.
        let newestFirst = Array(versions.sorted().reversed())
        let chosen =
            newestFirst.prefix(LeafEvidence.maximumVersions)
            + (newestFirst.count > LeafEvidence.maximumVersions ? [newestFirst.last ?? 0] : [])
        return chosen.contains { number in
            chain.commits(after: number).allSatisfy { commit in
                guard map.budget.spend() else { return false }
                if nodes.allSatisfy({ chain.wrote($0.ref, $0.end, commit: commit) == false }) { return true }
                guard let around = sizes(around: commit, above: number) else { return false }
                return around.allSatisfy { !$0.contains(count) }
            }
        }
    }

    /// Returns the sizes of leaves in the version that a commit made, or else in the nearest known ones below and above it.
    ///
    /// - Parameters:
    ///   - commit: The number of the version that the commit made.
    ///   - number: The version below which none is looked for.
    /// - Returns: One or two sets; nil when a neighbour is not known.
    private func sizes(around commit: UInt64, above number: UInt64) -> [LeafPlace.Sizes]? {
        let index = sizes.firstIndex { $0.number >= commit } ?? sizes.count
        guard index < sizes.count else { return nil }
        if sizes[index].number == commit { return [sizes[index].sizes] }
        guard index > 0, sizes[index - 1].number > number else { return nil }
        return [sizes[index - 1].sizes, sizes[index].sizes]
    }

    // MARK: - Contradictions

    /// Returns why a child of a leaf surely is not the leaf's; nil when nothing contradicts it.
    func contradiction(_ child: UInt64, in rows: LeafRows, slot: Int) -> Loss? {
        let places = places(of: child)
        guard !places.contains(Place(leaf: rows.node.ref, slot: slot)) else { return nil }
        for place in places {
            if place.slot != slot { return .usedForOtherProperty }
            if slot > 0, keys(of: place.leaf) != keys(of: rows.node.ref) { return .usedForOtherObjects }
        }
        return nil
    }

    /// Returns the keys of a leaf without its offset; nil when they cannot be read.
    private func keys(of leaf: UInt64) -> [Int64]? {
        if let known = keys[leaf] { return known }
        var found: [Int64]?
        if let node = try? map.node(at: leaf) { found = try? reader.leafKeys(node) }
        keys[leaf] = .some(found)
        return found
    }

    // MARK: - Keys

    /// Returns how sure the keys of a leaf are, and what they are.
    ///
    /// An insertion or a deletion rewrites every column of its leaf. So two leaves that surely share a column have the same
    /// objects, and the keys of one are those of the other.
    func keys(of rows: LeafRows) -> (strength: Strength, keys: [Int64]) {
        guard let keysRef = rows.node.child(0) else { return (.proved, rows.keys) }
        let strength = strength(keysRef, in: rows, slot: 0)
        guard strength != .proved else { return (strength, rows.keys) }
        for slot in 1..<max(rows.node.count, 1) {
            guard let child = rows.node.child(slot), self.strength(child, in: rows, slot: slot).isSure else { continue }
            for place in places(of: child) where place.slot == slot && place.leaf != rows.node.ref {
                guard let keys = keys(of: place.leaf), keys.count == rows.count, hasSureKeys(place.leaf) else { continue }
                return (.proved, keys.map { rows.offset &+ $0 })
            }
        }
        return (contradiction(keysRef, in: rows, slot: 0) == nil ? strength : .maybe, rows.keys)
    }

    private func hasSureKeys(_ leaf: UInt64) -> Bool {
        if map.present.contains(leaf) { return true }
        guard let node = try? map.node(at: leaf) else { return false }
        guard let child = node.child(0) else { return true }
        return homes[leaf]?.contains { isUntouched(below: child, $0) } == true
    }
}
