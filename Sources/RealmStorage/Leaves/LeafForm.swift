// SPDX-License-Identifier: Apache-2.0

/// How one type of value is laid out in its leaves. The meaning of the functions is that of `LeafWriter`.
protocol LeafForm {
    var writes: WriteSpace { get }
    var defaultValue: Value { get }
    func makeDefaults(count: Int) throws(StorageError) -> Ref
    func count(_ leaf: Ref) throws(StorageError) -> Int
    func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref
    func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref
    func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref)
    func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref
}

extension LeafForm {
    /// The caller handed over a value of another type, or a null where none may be.
    func misfit(_ what: String) -> StorageError { .limit("the value is not \(what)") }
}
