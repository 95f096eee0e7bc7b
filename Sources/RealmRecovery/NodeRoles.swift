// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The expected roles of nodes below leaves, according to all leaves that lead to them.
///
/// A node that two leaves need as different things was used again, and which of them it is now is not known unless something
/// proves it.
final class NodeRoles {
    /// The most nodes between a leaf and what is below it.
    static let maximumDepth = 24

    /// The bytes.
    private let map: SpaceMap
    /// The present version.
    private let present: PresentIndex
    private var roles: [UInt64: [NodeRole]] = [:]
    /// The nodes with more than one role.
    private(set) var conflicted: Set<UInt64> = []

    /// Makes a list without roles.
    init(_ map: SpaceMap, present: PresentIndex) {
        self.map = map
        self.present = present
    }

    /// Notes what every node below a leaf is there for.
    func add(_ rows: LeafRows) {
        for slot in 0..<rows.node.count {
            guard let root = rows.node.child(slot) else { continue }
            add(root, NodeRole(kind: .column, table: rows.table.key, slot: slot), rows)
        }
    }

    /// Notes that a node has no rows, unless a leaf leads to it.
    func addOther(_ ref: UInt64) { if roles[ref] == nil { roles[ref] = [.other] } }

    /// Notes a role, and those of the nodes below.
    private func add(_ ref: UInt64, _ role: NodeRole, _ rows: LeafRows) {
        guard role.depth <= NodeRoles.maximumDepth, let node = try? map.node(at: ref), map.damage(ref, node.byteCount) == nil
        else {
            return
        }
        var known = roles[ref] ?? (map.present.contains(ref) ? [present.role(of: ref)] : [])
        guard !known.contains(role) else { return }
        known.append(role)
        roles[ref] = known
        if known.count > 1 { conflicted.insert(ref) }
        guard node.hasRefs else { return }
        NodeRoles.forEachChild(of: node, role, in: rows) { child, role in add(child, role, rows) }
    }

    /// Calls `body` with the children of a node below a leaf, and what they are there for.
    static func forEachChild(of node: RawNode, _ role: NodeRole, in rows: LeafRows, _ body: (UInt64, NodeRole) -> Void) {
        // A node with a ref for each object.
        let isByObject = role.depth == 0 && role.slot > 0 && node.count == rows.count && (node.hasContext || node.count > 6)
        for index in 0..<node.count {
            guard let child = node.child(index) else { continue }
            var below = role
            below.depth += 1
            if isByObject { below.objectKey = rows.offset &+ rows.relativeKeys[index] }
            body(child, below)
        }
    }
}
