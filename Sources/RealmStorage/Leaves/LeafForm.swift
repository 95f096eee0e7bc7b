// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The layout of one type of value in its leaves, as the writer needs it; the functions have the
/// meaning of those in `LeafWriter`.
///
/// Each method takes the ref of a leaf and returns the ref that takes its place: a committed leaf is copied before it changes,
/// and a leaf that outgrows its memory moves. The old ref must not be used any more. Rows are checked; a row outside the leaf
/// throws `.corrupt`, because only a damaged file leads there.
protocol LeafForm {
    /// The nodes of the transaction, committed and new.
    var writes: WriteSpace { get }
    /// The value that a new object has in a column of this form.
    var defaultValue: Value { get }
    /// Makes a leaf of `count` default values and returns its ref.
    func makeDefaults(count: Int) throws(StorageError) -> Ref
    func count(_ leaf: Ref) throws(StorageError) -> Int
    /// Inserts a value before the one in `row`, or after the last one.
    ///
    /// - Parameters:
    ///   - value: A value of the leaf's type.
    ///   - row: The new row, `0...count`.
    ///   - leaf: The leaf, which the returned one replaces.
    /// - Throws: `.limit` for a value of another type.
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Adds values after the last one.
    ///
    /// - Parameters:
    ///   - values: Values of the leaf's type; nil is the default value.
    ///   - leaf: The leaf, which the returned one replaces.
    /// - Throws: `.limit` for a value of another type.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref
    /// Replaces the value in `row`.
    ///
    /// - Throws: `.limit` for a value of another type.
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Removes the value in `row`; the values after it move up.
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref
    /// Moves the values from `row` on to a new leaf, and returns both leaves.
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref)
    /// Appends the values of `next`, whose nodes are discarded.
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref
}

/// Defaults for all forms, or for those without a faster way.
extension LeafForm {
    /// Adds values one by one, for forms whose values are more than one element each.
    func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        try appendEach(values, to: leaf)
    }

    /// Adds values one by one after the last one; nil is the default value.
    func appendEach(_ values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        var leaf = leaf
        var row = try count(leaf)
        for value in values {
            leaf = try insert(value ?? defaultValue, at: row, in: leaf)
            row += 1
        }
        return leaf
    }

    /// Makes the `.limit` error for a value of another type, or a null where none may be. The
    /// caller of the writer is at fault, not the file.
    ///
    /// - Parameter what: The type that was expected, with its article.
    func misfit(_ what: String) -> StorageError { .limit("the value is not \(what)") }
}
