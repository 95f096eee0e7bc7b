// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads the values of one column and keeps the leaves that were attached last.
///
/// Rows that are read one after another are mostly in the same leaf, and links that lead here and there mostly lead to few
/// leaves. A reader belongs to one operand or condition and is used by one thread at a time.
final class ColumnReader {
    /// A leaf of the column that was attached earlier, with the place of its cluster leaf in the file.
    private struct Kept {
        let ref: Ref
        let values: ColumnLeaf
    }

    let column: Column
    /// The cluster leaf whose values, or whose refs, were attached last.
    private var leafRef = Ref.none
    /// The attached values of that leaf, for a column with one value for each row.
    private var values: ColumnLeaf?
    /// The attached refs of that leaf, for a collection or backlink column.
    private var refs: Node?
    /// Attached leaves in slots that follow from their places in the file; allocated when a second leaf is read.
    private var kept: [Kept?] = []
    /// The number of leaves that were not kept since the last growth.
    private var misses = 0

    /// Limits the leaves that the readers of a query keep, all of them together; nil for no limit but that of this reader.
    private let cancellation: CancellationCheck?

    /// Creates a reader for a column; nothing is read from the file yet.
    init(_ column: Column, _ cancellation: CancellationCheck? = nil) {
        self.column = column
        self.cancellation = cancellation
    }

    /// Returns the value of a row, for a column with one value for each row.
    ///
    /// - Throws: A storage error when the file is damaged.
    /// - Complexity: O(1) in a leaf that is kept.
    func value(_ row: borrowing Row) throws(StorageError) -> Value {
        if leafRef != row.leaf.node.ref || values == nil { try attach(row.leaf) }
        // A case for each type: a leaf is not copied as a whole for one value.
        switch values {
        case .int(let leaf)?: return leaf.value(row.index)
        case .link(let leaf)?: return leaf.value(row.index)
        case .double(let leaf)?: return leaf.value(row.index)
        case .string(let leaf)?: return try leaf.value(row.index)
        case let leaf?: return try leaf.value(row.index)
        case nil: return .null
        }
    }

    /// Returns the key that a row of a link column holds: that of an object, null, or the negative key of an unresolved link.
    func link(_ row: borrowing Row) throws(StorageError) -> ObjectKey {
        if leafRef != row.leaf.node.ref || values == nil { try attach(row.leaf) }
        guard case .link(let leaf)? = values else { return .null }
        return leaf.key(row.index)
    }

    /// Returns the values of the whole leaf, for a column with one value for each row.
    func values(of leaf: ClusterLeaf) throws(StorageError) -> ColumnLeaf {
        if leafRef == leaf.node.ref, let values { return values }
        let attached = try leaf.attach(column)
        leafRef = leaf.node.ref
        values = attached
        return attached
    }

    /// Makes the values of a leaf the current ones. If they were kept from an earlier visit they are used
    /// again; otherwise the leaf is attached, and its values replace others that were kept.
    private func attach(_ leaf: ClusterLeaf) throws(StorageError) {
        let ref = leaf.node.ref
        if !kept.isEmpty, let known = kept[slot(of: ref)], known.ref == ref {
            values = known.values
        } else {
            let attached = try leaf.attach(column)
            if values != nil { keep(Kept(ref: ref, values: attached)) }
            values = attached
        }
        leafRef = ref
    }

    /// The slot of a leaf. Leaves are seldom shorter than 256 bytes, and often follow one another.
    private func slot(of ref: Ref) -> Int {
        let place = ref.rawValue >> 3
        return Int(truncatingIfNeeded: (place &* 0x9e37_79b9_7f4a_7c15) >> 40) & (kept.count - 1)
    }

    /// Keeps an attached leaf, and makes room for more when they drive one another out.
    private func keep(_ leaf: Kept) {
        if let count = KeptLeaves.grownCount(from: kept.count, misses: &misses, objectCount: .max),
            cancellation?.takesLeaves(count - kept.count) ?? true
        {
            kept = [Kept?](repeating: nil, count: count)
        }
        if !kept.isEmpty { kept[slot(of: leaf.ref)] = leaf }
    }

    /// Returns the raw element that a collection or backlink column holds for a row: nothing, a ref or a tagged number.
    func slot(_ row: borrowing Row) throws(StorageError) -> Node.Slot {
        if leafRef != row.leaf.node.ref || refs == nil {
            refs = try row.leaf.attachRefs(column)
            leafRef = row.leaf.node.ref
        }
        return try refs?.slot(row.index) ?? .none
    }

    /// Returns the root of the row's collection, or `Ref.none` when it never held an element.
    ///
    /// - Throws: `StorageError.corrupt` when the column holds a number instead.
    func root(_ row: borrowing Row) throws(StorageError) -> Ref {
        switch try slot(row) {
        case .none: return .none
        case .ref(let ref): return ref
        case .tagged: throw row.leaf.node.corrupt("a number where a collection of '\(column.name)' belongs")
        }
    }
}

extension Column {
    /// Returns the dictionary that an object holds in this column.
    ///
    /// - Parameters:
    ///   - row: An object of `table`.
    ///   - reader: The reader of this column, which keeps the leaf.
    /// - Returns: The dictionary, or nil when it never held an entry.
    /// - Throws: A storage error when the file is damaged.
    func dictionary(_ row: borrowing Row, _ reader: ColumnReader, _ table: Table) throws(StorageError) -> DictionaryView? {
        let root = try reader.root(row)
        guard !root.isNone else { return nil }
        return try DictionaryView(
            root: root, space: row.leaf.space, keyType: dictionaryKeyType, fileFormat: table.fileFormat)
    }
}
