// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes leaves of integers that may be null.
///
/// Null is stored as a number that no value has, the null marker, which is the first element. Source: docs/format.md, "Int".
struct NullableIntegerForm: LeafForm {
    /// The nodes of the transaction, committed and new.
    let writes: WriteSpace
    /// Null, as these leaves are those of optional integers.
    var defaultValue: Value { .null }
    /// The writer of nodes with a null marker.
    private var integers: NullableIntegers { NullableIntegers(writes: writes) }

    /// Makes a leaf of nulls with its null marker.
    func makeDefaults(count: Int) throws(StorageError) -> Ref { try integers.make(count: count, nil) }
    func count(_ leaf: Ref) throws(StorageError) -> Int { try integers.count(leaf) }

    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try integers.insert(try integer(value), at: row, in: leaf)
    }

    /// Adds integers and nulls, and changes the null marker at most once.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        var numbers: [Int64?] = []
        numbers.reserveCapacity(values.count)
        for value in values { numbers.append(try integer(value ?? .null)) }
        return try integers.append(contentsOf: numbers, to: leaf)
    }

    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try integers.set(try integer(value), at: row, in: leaf)
    }

    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref { try integers.erase(row, in: leaf) }

    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        try integers.split(leaf, at: row)
    }

    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref { try integers.join(leaf, with: next) }

    /// Returns the integer of a value, nil for null; throws `.limit` for another type.
    private func integer(_ value: Value) throws(StorageError) -> Int64? {
        switch value {
        case .int(let number): return number
        case .null: return nil
        default: throw misfit("an integer")
        }
    }
}
