// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of dates: nullable seconds in slot 0, nanoseconds in slot 1; a null has 0 nanoseconds.
///
/// Source: docs/format.md, "Timestamp".
struct TimestampLeafForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Whether the column or collection may have nulls.
    let isNullable: Bool
    /// The writer of the seconds.
    private var seconds: NullableIntegers { NullableIntegers(writes: writes) }
    /// The writer of the nanoseconds.
    private var nanoseconds: IntegerLeafForm { IntegerLeafForm(writes: writes, coding: .int) }

    /// Null where that is allowed, else 1970-01-01 UTC.
    var defaultValue: Value { isNullable ? .null : .timestamp(Timestamp(seconds: 0, nanoseconds: 0)) }

    /// Makes the two nodes of a leaf: nullable seconds, and nanoseconds that are all 0.
    func makeDefaults(count: Int) throws(StorageError) -> Ref {
        var top = try writes.makeNode(.refs, count: 2)
        try top.set(0, try seconds.make(count: count, isNullable ? nil : 0))
        try top.set(1, try nanoseconds.makeDefaults(count: count))
        return top.ref
    }

    func count(_ leaf: Ref) throws(StorageError) -> Int {
        let top = try writes.node(at: leaf)
        try TimestampLeaf.requireShape(top)
        return try seconds.count(try top.requiredRef(0, "seconds"))
    }

    /// Inserts the seconds and the nanoseconds of a date in their nodes.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let (whole, part) = try parts(value)
        return try change(leaf) { (first, second) throws(StorageError) in
            first = try seconds.insert(whole, at: row, in: first)
            second = try nanoseconds.insert(.int(part), at: row, in: second)
        }
    }

    /// Adds the seconds and the nanoseconds of dates to their nodes.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        let standard = defaultValue
        var wholes: [Int64?] = []
        var fractions: [Value?] = []
        wholes.reserveCapacity(values.count)
        fractions.reserveCapacity(values.count)
        for value in values {
            let (whole, part) = try parts(value ?? standard)
            wholes.append(whole)
            fractions.append(.int(part))
        }
        return try change(leaf) { (first, second) throws(StorageError) in
            first = try seconds.append(contentsOf: wholes, to: first)
            second = try nanoseconds.append(contentsOf: fractions[...], to: second)
        }
    }

    /// Replaces the seconds and the nanoseconds of a date in their nodes.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        let (whole, part) = try parts(value)
        return try change(leaf) { (first, second) throws(StorageError) in
            first = try seconds.set(whole, at: row, in: first)
            second = try nanoseconds.set(.int(part), at: row, in: second)
        }
    }

    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try change(leaf) { (first, second) throws(StorageError) in
            first = try seconds.erase(row, in: first)
            second = try nanoseconds.erase(row, in: second)
        }
    }

    /// Splits both nodes at `row`, and makes a leaf of the second halves.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        var tail = try writes.makeNode(.refs, count: 2)
        let head = try change(leaf) { (first, second) throws(StorageError) in
            let whole = try seconds.split(first, at: row)
            let part = try nanoseconds.split(second, at: row)
            (first, second) = (whole.head, part.head)
            try tail.set(0, whole.tail)
            try tail.set(1, part.tail)
        }
        return (head, tail.ref)
    }

    /// Appends seconds and nanoseconds of `next`, each to its own node.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref {
        let other = try writes.node(at: next)
        try TimestampLeaf.requireShape(other)
        let whole = try other.requiredRef(0, "seconds")
        let part = try other.requiredRef(1, "nanoseconds")
        writes.discard(other)
        return try change(leaf) { (first, second) throws(StorageError) in
            first = try seconds.join(first, with: whole)
            second = try nanoseconds.join(second, with: part)
        }
    }

    // MARK: - Parts

    /// Changes both parts of a leaf and stores their refs.
    ///
    /// - Parameters:
    ///   - leaf: The leaf, whose ref must not be used any more.
    ///   - body: Changes the ref of the seconds and that of the nanoseconds.
    /// - Returns: The new ref of the leaf.
    private func change(
        _ leaf: Ref, _ body: (inout Ref, inout Ref) throws(StorageError) -> Void
    ) throws(StorageError) -> Ref {
        var top = try writes.writableRefs(leaf)
        try TimestampLeaf.requireShape(top.node)
        var first = try top.node.requiredRef(0, "seconds")
        var second = try top.node.requiredRef(1, "nanoseconds")
        try body(&first, &second)
        try top.update(0, first)
        try top.update(1, second)
        return top.ref
    }

    /// Returns the seconds, nil for null, and the nanoseconds of a value; throws `.limit` for
    /// another type or an impossible date.
    private func parts(_ value: Value) throws(StorageError) -> (Int64?, Int64) {
        switch value {
        case .null where isNullable: return (nil, 0)
        case .timestamp(let date):
            let date = try date.checked
            return (date.seconds, Int64(date.nanoseconds))
        default: throw misfit("a date")
        }
    }
}
