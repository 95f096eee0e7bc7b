// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Changes the leaves of one column or of one kind of collection.
///
/// Every function that changes a leaf returns its new ref, which the caller stores where the old one was. Values that are
/// handed over must not borrow bytes from the leaf they go into. All functions throw `.corrupt` for a leaf of another form or a
/// row outside it, and `.limit` for values that the leaf cannot hold. Nodes that no value needs any more are discarded; only
/// collections below a value are left to the caller, see `erase`.
///
/// Source: docs/format.md, "Cluster trees".
package struct LeafWriter {
    /// The nodes of the transaction, committed and new.
    package let writes: WriteSpace
    /// The layout of the leaves. It is an existential, made once per column; each row costs one call through it.
    private let form: any LeafForm

    /// Makes a writer of leaves of one shape.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - shape: The type of the values, or refs.
    ///   - inCluster: Whether the leaves belong to clusters, where links are stored as the key plus
    ///     one.
    ///   - enumeration: The list of distinct strings of an enumerated column, whose root may change
    ///     with any call.
    package init(
        _ writes: WriteSpace, _ shape: LeafWriter.LeafShape, inCluster: Bool, enumeration: EnumerationWriter? = nil
    ) {
        self.writes = writes
        switch shape {
        case .refs: form = IntegerLeafForm(writes: writes, coding: .refs)
        case .values(let element):
            form = LeafWriter.form(writes, element, inCluster: inCluster, enumeration: enumeration)
        }
    }

    /// Makes a writer of leaves whose shape is that of a column's values or elements; backlinks are leaves of refs.
    ///
    /// - Parameters:
    ///   - writes: The nodes of the transaction.
    ///   - shape: The type of the values, whether they may be null, and the target table of links.
    ///   - inCluster: Whether the leaves belong to clusters, where links are stored as the key plus
    ///     one.
    ///   - enumeration: The list of distinct strings of an enumerated column.
    package init(
        _ writes: WriteSpace, _ shape: ElementShape, inCluster: Bool, enumeration: EnumerationWriter? = nil
    ) {
        self.init(writes, shape.type == .backlink ? .refs : .values(shape), inCluster: inCluster, enumeration: enumeration)
    }

    /// Returns the form that writes leaves of a shape.
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

    /// Makes a leaf without values and returns its ref.
    package func makeEmpty() throws(StorageError) -> Ref { try form.makeDefaults(count: 0) }

    /// Makes a leaf of `count` default values: null where that is allowed, else zero, empty or the epoch.
    package func makeDefaults(count: Int) throws(StorageError) -> Ref { try form.makeDefaults(count: count) }

    /// The value that a new object has in this column.
    package var defaultValue: Value { form.defaultValue }

    /// Returns the number of values in `leaf`.
    package func count(_ leaf: Ref) throws(StorageError) -> Int { try form.count(leaf) }

    // MARK: - Values

    /// Inserts `value` before the value in `row`, or after the last one, and returns the new ref of the leaf.
    ///
    /// - Parameters:
    ///   - value: A value of the leaf's type, whose bytes lie outside the leaf.
    ///   - row: The new row, `0...count`.
    ///   - leaf: The leaf, whose ref must not be used any more.
    package func insert(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(value, at: row, in: leaf)
    }

    /// Adds a value at the end of a leaf and returns the new ref of the leaf.
    package func append(_ value: Value, to leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(value, at: try form.count(leaf), in: leaf)
    }

    /// Adds values at the end of a leaf and returns the new ref of the leaf.
    ///
    /// - Parameters:
    ///   - values: Values of the leaf's type, whose bytes lie outside the leaf; nil is the default value.
    ///   - leaf: The leaf, whose ref must not be used any more.
    package func append(contentsOf values: ArraySlice<Value?>, to leaf: Ref) throws(StorageError) -> Ref {
        try form.append(contentsOf: values, to: leaf)
    }

    /// Inserts a default value at `row` and returns the new ref of the leaf.
    package func insertDefault(at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.insert(form.defaultValue, at: row, in: leaf)
    }

    /// Replaces the value in `row` and returns the new ref of the leaf. Collections below the old value are not discarded.
    package func set(_ value: Value, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try form.set(value, at: row, in: leaf)
    }

    /// Removes the value in `row` and returns the new ref of the leaf. Collections below the value
    /// are not discarded: the caller removes the links in them first.
    package func erase(_ row: Int, in leaf: Ref) throws(StorageError) -> Ref { try form.erase(row, in: leaf) }

    // MARK: - Leaves

    /// Moves the values from `row` on to a new leaf, and returns both leaves.
    package func split(_ leaf: Ref, at row: Int) throws(StorageError) -> (head: Ref, tail: Ref) {
        try form.split(leaf, at: row)
    }

    /// Appends all values of `next` to `leaf` and returns its new ref; the nodes of `next` are discarded.
    package func join(_ leaf: Ref, with next: Ref) throws(StorageError) -> Ref { try form.join(leaf, with: next) }

    /// Discards the nodes of a leaf and everything below it, nested collections included.
    package func discard(_ leaf: Ref) throws(StorageError) { try writes.discardTree(leaf) }
}

// MARK: - Refs

/// Access to leaves of refs: those of backlink columns and of columns with collections.
extension LeafWriter {
    /// Stores the root of a collection, or 0 for none, in a leaf of refs, and returns the new ref of the leaf.
    package func setRef(_ ref: Ref, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try setRaw(Int64(bitPattern: ref.rawValue), row, leaf)
    }

    /// Stores the only incoming link of an object, as a tagged key, in a leaf of backlinks, and
    /// returns the new ref of the leaf.
    package func setTagged(_ key: ObjectKey, at row: Int, in leaf: Ref) throws(StorageError) -> Ref {
        try setRaw(MutableNode.tagged(UInt64(bitPattern: key.rawValue)), row, leaf)
    }

    /// Returns what a leaf of refs holds in `row`: nothing, a ref or a tagged number.
    package func slot(_ row: Int, in leaf: Ref) throws(StorageError) -> Node.Slot {
        let node = try writes.node(at: leaf)
        try node.requireRow(row)
        return try node.slot(row)
    }

    /// Replaces the element of a leaf of refs in `row`, and returns the new ref of the leaf.
    private func setRaw(_ raw: Int64, _ row: Int, _ leaf: Ref) throws(StorageError) -> Ref {
        var node = try writes.writableRefs(leaf)
        try node.requireRow(row)
        try node.set(row, raw)
        return node.ref
    }
}

extension LeafWriter {
    /// The contents of a leaf: values, or one ref per object.
    ///
    /// Backlink columns and columns of collections hold one ref or tagged number per object; all others hold values.
    ///
    /// Decided by the type and the collection kind of a column; the writers of leaves are chosen by it.
    package enum LeafShape: Sendable {
        /// Values of single-valued properties, or elements of collections.
        case values(ElementShape)
        /// Roots of collections, or incoming links: 0, a ref, or (for backlinks) one tagged object key.
        case refs
    }
}
