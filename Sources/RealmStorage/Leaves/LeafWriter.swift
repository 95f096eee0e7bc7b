// SPDX-License-Identifier: Apache-2.0

/// Changes the leaves of one column or of one kind of collection.
///
/// Every function that changes a leaf returns its new ref, which goes where the old one was stored. Values that are
/// handed over must not borrow bytes from the leaf they go into. All functions throw `.corrupt` for a leaf of another
/// form or a row outside it, and `.limit` for values that the leaf cannot hold. Nothing is lost: nodes that are no
/// longer needed are discarded, except collections below a value, see `erase`.
///
/// Source: docs/format.md, "Cluster trees".
package struct LeafWriter {
    /// Where the nodes of the transaction are.
    package let writes: WriteSpace
    /// Changes leaves of the shape. An existential, made once per column; rows go through it one call each.
    private let form: any LeafForm

    /// `inCluster` says how links are stored; `enumeration` is the list of distinct strings of an enumerated column,
    /// whose root may have changed after any call.
    package init(
        _ writes: WriteSpace, _ shape: LeafShape, inCluster: Bool, enumeration: EnumerationWriter? = nil
    ) {
        self.writes = writes
        switch shape {
        case .refs: form = IntegerLeafForm(writes: writes, coding: .refs)
        case .values(let element):
            form = LeafWriter.form(writes, element, inCluster: inCluster, enumeration: enumeration)
        }
    }

    /// A writer of leaves of one shape.
    package init(
        _ writes: WriteSpace, _ shape: ElementShape, inCluster: Bool, enumeration: EnumerationWriter? = nil
    ) {
        self.init(writes, shape.type == .backlink ? .refs : .values(shape), inCluster: inCluster, enumeration: enumeration)
    }

    /// The form that the leaves of a shape have.
    private static func form(
        _ writes: WriteSpace, _ shape: ElementShape, inCluster: Bool, enumeration: EnumerationWriter?
    ) -> any LeafForm {
        let isNullable = shape.isNullable
        switch shape.type {
        case .int where isNullable: return NullableIntegerForm(writes: writes)
        case .int: return IntegerLeafForm(writes: writes, coding: .int)
        case .bool: return IntegerLeafForm(writes: writes, coding: .bool(isNullable: isNullable))
        case .link: return IntegerLeafForm(writes: writes, coding: .link(shape.targetTable, inCluster: inCluster))
        case .backlink: return IntegerLeafForm(writes: writes, coding: .refs)
        case .float: return RealLeafForm(writes: writes, isDouble: false, isNullable: isNullable)
        case .double: return RealLeafForm(writes: writes, isDouble: true, isNullable: isNullable)
        case .decimal: return DecimalLeafForm(writes: writes, isNullable: isNullable)
        case .timestamp: return TimestampLeafForm(writes: writes, isNullable: isNullable)
        case .objectID: return IdentifierLeafForm(writes: writes, elementByteCount: 12, isNullable: isNullable)
        case .uuid: return IdentifierLeafForm(writes: writes, elementByteCount: 16, isNullable: isNullable)
        case .string: return StringLeafForm(writes: writes, isNullable: isNullable, enumeration: enumeration)
        case .binary: return BinaryLeafForm(writes: writes, isNullable: isNullable)
        case .mixed: return MixedLeafForm(writes: writes)
        }
    }

    // MARK: - Making

    /// A leaf without values.
    package func makeEmpty() throws(StorageError) -> Ref { try form.makeDefaults(count: 0) }

    /// A leaf of `count` default values: null where that is allowed, else zero, empty or the epoch.
    package func makeDefaults(count: Int) throws(StorageError) -> Ref { try form.makeDefaults(count: count) }

    /// What a new object holds in this column.
    package var defaultValue: Value { form.defaultValue }

    /// The number of values in `leaf`.
    package func count(_ leaf: Ref) throws(StorageError) -> Int { try form.count(leaf) }

    // MARK: - Values

    /// Puts `value` before the value in `row`, or after the last one.
    package func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(value, at: row, in: leaf)
    }

    /// Adds a value at the end of a leaf.
    package func append(_ value: Value, to leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(value, at: try form.count(leaf), in: leaf)
    }

    /// Puts a default value in at `row`.
    package func insertDefault(at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(form.defaultValue, at: row, in: leaf)
    }

    /// Replaces the value in `row`. Collections below the old value are not discarded.
    package func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.set(value, at: row, in: leaf)
    }

    /// Removes the value in `row`. Collections below it are not discarded: the owner of their links does that first.
    package func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref { try form.erase(row, in: leaf) }

    // MARK: - Leaves

    /// Moves the values from `row` on to a new leaf.
    package func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        try form.split(leaf, at: row)
    }

    /// Moves all values of `next` after those of `leaf`; `next` is used up.
    package func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref { try form.join(leaf, with: next) }

    /// Gives up a leaf and everything below it, nested collections included.
    package func discard(_ leaf: Ref) throws(StorageError) { try writes.discardTree(leaf) }
}

// MARK: - Refs

/// Leaves of refs: backlinks and collections.
extension LeafWriter {
    /// Stores the root of a collection, or 0, in a leaf of refs.
    package func setRef(_ ref: Ref, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try setRaw(Int64(bitPattern: ref.rawValue), row, leaf)
    }

    /// Stores the only incoming link in a leaf of backlinks.
    package func setTagged(_ key: ObjectKey, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try setRaw(MutableNode.tagged(UInt64(bitPattern: key.rawValue)), row, leaf)
    }

    /// What a leaf of refs holds in `row`.
    package func slot(_ row: Int, in leaf: Ref) throws(StorageError) -> Node.Slot {
        let node = try writes.node(at: leaf)
        try node.requireRow(row)
        return try node.slot(row)
    }

    /// Replaces the stored word in `row`.
    private func setRaw(_ raw: Int64, _ row: Int, _ leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writableRefs(leaf)
        try node.requireRow(row)
        try node.set(row, raw)
        return node.ref
    }
}
