// SPDX-License-Identifier: Apache-2.0

/// How one type of value is laid out in its leaves. The meaning of the functions is that of `LeafWriter`.
///
/// Each method takes the ref of a leaf and returns the ref that takes its place: a committed leaf is copied before it changes,
/// and a leaf that outgrows its memory moves. The old ref must not be used any further. Rows are checked; a row outside the leaf
/// throws `.corrupt`, because only a damaged file leads there.
protocol LeafForm {
    /// Where the nodes of the transaction are.
    var writes: WriteSpace { get }
    /// What a new object has in a column of this form.
    var defaultValue: Value { get }
    /// A new leaf of `count` default values.
    func makeDefaults(count: Int) throws(StorageError) -> Ref
    /// How many values a leaf has.
    func count(_ leaf: Ref) throws(StorageError) -> Int
    /// Puts a value in at `row`, which may be the count. Throws `.limit` for a value of another type.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Replaces the value in `row`. Throws `.limit` for a value of another type.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Takes the value in `row` out.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Moves the values from `row` on to a new leaf.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref)
    /// Appends the values of `next`, which is given up.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref
}

/// What all forms share.
extension LeafForm {
    /// The caller handed over a value of another type, or a null where none may be.
    func misfit(_ what: String) -> StorageError { .limit("the value is not \(what)") }
}
