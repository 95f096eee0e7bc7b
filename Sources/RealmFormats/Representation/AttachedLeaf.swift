// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// One leaf of a class, whose single-valued columns are attached when they are first read.
///
/// Answers read row after row of the same leaf, so a column is checked and attached once per leaf
/// rather than once per value. Of the first row of a leaf nothing is remembered, because it often remains the only one: in the response
/// that is one object, and where the rows of a page are each in another leaf.
@safe final class AttachedLeaf {
    /// The class of the objects in the leaf.
    let table: Table
    /// The leaf of the class's object tree whose columns are attached here.
    private var leaf: ClusterLeaf
    /// The number of leaves that this was before.
    private var generation = 0
    /// The row of the leaf that was read first; nil before that.
    private var firstRow: Int?
    /// For each column of `table` its values, which are those of the leaf if their generation is the present one; nil for
    /// those that were not read yet. It is empty until a second row is read.
    ///
    /// They are retained once and released at the end: to count references to them would take longer than reading a value.
    private var columns: [Unmanaged<AttachedColumn>?] = unsafe []

    /// Creates a leaf none of whose columns were read.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    init(_ table: Table, _ leaf: ClusterLeaf) {
        self.table = table
        self.leaf = leaf
    }

    deinit {
        for index in unsafe columns.indices { unsafe columns[index]?.release() }
    }

    /// Becomes another leaf of the same class, none of whose columns were read.
    func reuse(for leaf: ClusterLeaf) {
        self.leaf = leaf
        generation += 1
        firstRow = nil
    }

    /// Returns whether this is a given leaf. Leaves are compared by their refs and the object keys that they begin with.
    @inline(__always) func isOf(_ table: Table, _ leaf: ClusterLeaf) -> Bool {
        self.table === table && self.leaf.node.ref == leaf.node.ref && self.leaf.offset == leaf.offset
    }

    /// Returns the value of a single-valued column.
    ///
    /// - Parameters:
    ///   - position: The position of the column in `table.columns`.
    ///   - row: The position in the leaf, from 0.
    /// - Throws: `StorageError` for a damaged file.
    @inline(__always) func value(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        guard unsafe position < columns.count, let column = unsafe columns[position] else { return try firstValue(position, row) }
        var value: Value?
        var failure: StorageError?
        unsafe column._withUnsafeGuaranteedRef { column in
            guard column.generation == generation else { return }
            do throws(StorageError) { value = try column.value(row) } catch { failure = error }
        }
        if let failure { throw failure }
        if let value { return value }
        return try firstValue(position, row)
    }

    /// Returns the primary key of an object, which may be null; nil in a class without primary key.
    @inline(__always) func primaryKey(_ row: Int) throws(StorageError) -> Value? {
        guard let position = table.primaryKeyPosition else { return nil }
        return try value(position, row)
    }

    /// Returns the value of a column that is not attached, and attaches it unless the row is the first one. Kept apart from
    /// `value(_:_:)`, so that the frequent case stays short.
    @inline(never) private func firstValue(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        if row == firstRow ?? row {
            firstRow = row
            return try read(position, row)
        }
        return try attach(position).value(row)
    }

    /// Reads a value of a column that is not attached. The table keeps its columns, to which other threads refer at the same time, so
    /// references to them are not counted.
    private func read(_ position: Int, _ row: Int) throws(StorageError) -> Value {
        var value = Value.null
        var failure: StorageError?
        unsafe Unmanaged.passUnretained(table.columns[position])._withUnsafeGuaranteedRef { column in
            do throws(StorageError) { value = try leaf.value(column, row: row) } catch { failure = error }
        }
        if let failure { throw failure }
        return value
    }

    /// Attaches a column and remembers it.
    private func attach(_ position: Int) throws(StorageError) -> AttachedColumn {
        if unsafe columns.isEmpty { unsafe columns = unsafe Array(repeating: nil, count: table.columns.count) }
        let values = try leaf.attach(table.columns[position])
        if let known = unsafe columns[position]?.takeUnretainedValue() {
            known.reuse(for: values, generation)
            return known
        }
        let column = AttachedColumn(values, generation)
        unsafe columns[position] = unsafe Unmanaged.passRetained(column)
        return column
    }
}

/// The values of one column in one leaf, ready to be read row by row.
///
/// It is a class because a leaf has many parts, and reading one value should not copy them. It is
/// valid as long as the snapshot of the leaf, and used by one thread at a time.
final class AttachedColumn {
    /// The leaf of the column, whose shape was checked when it was attached.
    private var values: ColumnLeaf
    /// Which of the leaves that an `AttachedLeaf` was, one after the other, the values belong to.
    private(set) var generation: Int

    /// Wraps a column.
    ///
    /// - Parameters:
    ///   - generation: Which of the leaves it is.
    init(_ values: ColumnLeaf, _ generation: Int) {
        self.values = values
        self.generation = generation
    }

    /// Takes the values of the same column in another leaf.
    func reuse(for values: ColumnLeaf, _ generation: Int) {
        self.values = values
        self.generation = generation
    }

    /// Returns the value of a row.
    ///
    /// - Parameter row: The position in the leaf, from 0.
    /// - Returns: The value, which borrows from the snapshot.
    /// - Throws: `StorageError` for a damaged file.
    @inline(__always) func value(_ row: Int) throws(StorageError) -> Value {
        // The most common types separately: a leaf is not copied as a whole for one value.
        switch values {
        case .int(let leaf): return leaf.value(row)
        case .string(let leaf): return try leaf.value(row)
        case .double(let leaf): return leaf.value(row)
        case .timestamp(let leaf): return try leaf.value(row)
        default: return try values.value(row)
        }
    }
}
