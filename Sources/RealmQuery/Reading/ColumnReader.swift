// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads values of one column, keeping the leaves that were attached last: rows that are read one after another mostly
/// lie in the same leaf, and links that lead here and there mostly lead to few leaves.
final class ColumnReader {
    private struct Kept {
        let ref: Ref
        let values: ColumnLeaf
    }

    let column: Column
    private var leafRef = Ref.none
    private var values: ColumnLeaf?
    private var refs: Node?
    /// Leaves by their place in the file; made when a second one is met.
    private var kept: [Kept?] = []
    private static let keptCount = 64

    init(_ column: Column) { self.column = column }

    /// The value of a single-valued column.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if leafRef != row.leaf.node.ref || values == nil { try attach(row.leaf) }
        // Each case by itself: a leaf is not copied as a whole for one value.
        switch values {
        case .int(let leaf)?: return leaf.value(row.index)
        case .link(let leaf)?: return leaf.value(row.index)
        case .double(let leaf)?: return leaf.value(row.index)
        case .string(let leaf)?: return try leaf.value(row.index)
        case let leaf?: return try leaf.value(row.index)
        case nil: return .null
        }
    }

    /// The key that a row of a link column holds: null, live, or that of an unresolved link.
    func link(_ row: borrowing Row) throws(StorageError) -> ObjectKey {
        if leafRef != row.leaf.node.ref || values == nil { try attach(row.leaf) }
        guard case .link(let leaf)? = values else { return .null }
        return leaf.key(row.index)
    }

    /// The values of a leaf.
    func values(of leaf: ClusterLeaf) throws(StorageError) -> ColumnLeaf {
        if leafRef == leaf.node.ref, let values { return values }
        let attached = try leaf.attach(column)
        leafRef = leaf.node.ref
        values = attached
        return attached
    }

    private func attach(_ leaf: ClusterLeaf) throws(StorageError) {
        let ref = leaf.node.ref
        let slot = Int(truncatingIfNeeded: ref.rawValue >> 3) % ColumnReader.keptCount
        if kept.isEmpty, values != nil { kept = [Kept?](repeating: nil, count: ColumnReader.keptCount) }
        if !kept.isEmpty, let known = kept[slot], known.ref == ref {
            values = known.values
        } else {
            let attached = try leaf.attach(column)
            values = attached
            if !kept.isEmpty { kept[slot] = Kept(ref: ref, values: attached) }
        }
        leafRef = ref
    }

    /// What a collection or backlink column holds for a row.
    func slot(_ row: borrowing Row) throws(StorageError) -> Node.Slot {
        if leafRef != row.leaf.node.ref || refs == nil {
            refs = try row.leaf.attachRefs(column)
            leafRef = row.leaf.node.ref
        }
        return try refs?.slot(row.index) ?? .none
    }

    /// The root of the row's collection, `Ref.none` when it is empty.
    func root(_ row: borrowing Row) throws(StorageError) -> Ref {
        switch try slot(row) {
        case .none: return .none
        case .ref(let ref): return ref
        case .tagged: throw row.leaf.node.corrupt("a number where a collection of '\(column.name)' belongs")
        }
    }
}
