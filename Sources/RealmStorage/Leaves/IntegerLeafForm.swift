// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves that are one node with one integer per value: required integers, booleans, links, and refs of collections.
///
/// Source: docs/format.md, "Int", "Bool", "Link", "Backlinks".
struct IntegerLeafForm: LeafForm {
    /// The meaning of the numbers in such a leaf.
    enum Coding {
        /// The numbers are the integers themselves.
        case int
        /// Booleans as 0 and 1; null is 3.
        case bool(isNullable: Bool)
        /// The object key, plus 1 in a cluster, where 0 is null.
        case link(TableKey, inCluster: Bool)
        /// The roots of collections and lists of backlinks; a null value is no collection.
        case refs
    }

    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// The meaning of the stored numbers.
    let coding: Coding

    /// Zero, false, a null link or no collection; null for booleans where that is allowed.
    var defaultValue: Value {
        switch coding {
        case .int: return .int(0)
        case .bool(let isNullable): return isNullable ? .null : .bool(false)
        case .link, .refs: return .null
        }
    }

    /// Makes a leaf of zeros, which takes no bytes; for optional booleans one of threes, which mean null.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        switch coding {
        case .refs: return try writes.makeNode(.refs, count: count).ref
        case .bool(isNullable: true) where count > 0:
            var node = try writes.makeNode(.integers, widthCode: 2, count: count)
            for row in 0..<count { try node.set(row, 3) }
            return node.ref
        default: return try writes.makeNode(.integers, count: count).ref
        }
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int { try writes.node(at: leaf).count }

    /// Inserts the number that is stored for the value, and widens the leaf if it needs it.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let raw = try encode(value)
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        try node.insert(raw, at: row)
        return node.ref
    }

    /// Adds the numbers that are stored for the values, and widens the leaf once if one of them needs it.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        var numbers: [Int64] = []
        numbers.reserveCapacity(values.count)
        // A list of links has no default value.
        for value in values { numbers.append(try encode(value ?? defaultValue)) }
        var node = try writable(leaf)
        try node.append(contentsOf: numbers)
        return node.ref
    }

    /// Replaces the stored number, and widens the leaf if it needs it. A collection that the old one referred to is not
    /// discarded.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let raw = try encode(value)
        var node = try writable(leaf)
        try node.requireRow(row)
        try node.set(row, raw)
        return node.ref
    }

    /// Removes the element in `row`. A collection that it refers to is not discarded.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        try node.requireRow(row)
        node.removeInteger(at: row)
        return node.ref
    }

    /// Moves the elements from `row` on to a new leaf of the same width.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var node = try writable(leaf)
        try node.requireRow(row, below: node.count + 1)
        let tail = try writes.makeTail(of: node, from: row)
        node.truncateIntegers(to: row)
        return (node.ref, tail.ref)
    }

    /// Appends the elements of `next`, and widens the leaf if one of them needs it. Collections below refs stay where they are.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        var node = try writable(leaf)
        let other = try writes.node(at: next)
        if node.hasRefs { try other.requireLeafOfRefs() } else { try other.requirePlainIntegers() }
        for row in 0..<other.count { try node.append(other.integer(row)) }
        writes.discard(other)
        return node.ref
    }

    /// Makes the leaf ready to be changed, as a node of refs or of plain integers, depending on the coding.
    private func writable(_ leaf: Ref) throws(StorageError) -> MutableNode {
        if case .refs = coding { return try writes.writableRefs(leaf) }
        return try writes.writableIntegers(leaf)
    }

    /// Returns the number that is stored for a value.
    ///
    /// - Throws: `.limit` for a value of another type, or a link to another table.
    private func encode(_ value: Value) throws(StorageError) -> Int64 {
        switch (coding, value) {
        case (.int, .int(let number)): return number
        case (.bool, .bool(let flag)): return flag ? 1 : 0
        case (.bool(isNullable: true), .null): return 3
        case (.link(_, inCluster: true), .null), (.refs, .null): return 0
        case (.link(let table, let inCluster), .link(let target, let key)) where target == table:
            return try encode(key, inCluster)
        case (.refs, .list(let root)), (.refs, .dictionary(let root)): return Int64(bitPattern: root.rawValue)
        default: throw misfit("one of this leaf's type")
        }
    }

    /// Returns the number that is stored for a link: its key, plus one in clusters.
    ///
    /// - Throws: `.limit` for the null key in a collection.
    private func encode(_ key: ObjectKey, _ inCluster: Bool) throws(StorageError) -> Int64 {
        let (shifted, overflow) = key.rawValue.addingReportingOverflow(inCluster ? 1 : 0)
        guard !overflow, !key.isNull else { throw misfit("a link to an object") }
        return shifted
    }
}
