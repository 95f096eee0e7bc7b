// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads a property with one value of objects that links lead to, here and there in their class.
///
/// Of integers, doubles and texts it keeps the attached leaves of the whole class, by the keys that they have, so most values are read without a
/// walk to the object. Used by one thread at a time.
final class LinkedColumn {
    let column: Column
    /// The class of the objects.
    private let table: Table
    private let finder: ObjectFinder
    private let reader: ColumnReader
    /// The numbers of the objects by their keys; nil before they are needed, and where the keys are too far apart.
    private var keys: CompactKeys?
    /// Whether leaves of the type are kept.
    private let isKept: Bool
    /// Whether it was found out how far apart the keys are.
    private var isNumbered = false
    /// Leaves of integers by the high bits of the numbers of their objects; nil where none is attached, or where the keys have gaps.
    private var integers: [IntLeaf?] = []
    /// Leaves of doubles in the same way.
    private var doubles: [DoubleLeaf?] = []
    /// Leaves of texts in the same way.
    private var texts: [StringLeaf?] = []
    /// Limits the leaves that the readers of a query keep, all of them together; nil for no limit but that of this reader.
    private let cancellation: CancellationCheck?
    /// How many values were read the long way.
    private var misses = 0

    /// From how many values on leaves are kept.
    private static let fewValues = 512
    /// The number of leaves up to which a class is kept, with which a reader takes up to 5 MB.
    private static let mostLeaves = 1 << 16

    /// Creates a reader for a column of a class; nothing is read from the file yet.
    init(_ column: Column, of table: Table, _ cancellation: CancellationCheck? = nil) {
        self.column = column
        self.table = table
        self.cancellation = cancellation
        finder = ObjectFinder(table, cancellation)
        reader = ColumnReader(column, cancellation)
        isKept = [.int, .double, .string].contains(column.type)
    }

    /// Returns the value of an object, or nil when there is none or a view hides it; throws a storage error when the file is damaged.
    func value(_ key: ObjectKey) throws(StorageError) -> Value? {
        if let number = keys?.number(of: key) {
            let (index, row) = (number >> 8, number & 0xff)
            if index < integers.count, let leaf = integers[index], row < leaf.count { return leaf.value(row) }
            if index < doubles.count, let leaf = doubles[index], row < leaf.count { return leaf.value(row) }
            if index < texts.count, let leaf = texts[index], row < leaf.count { return try leaf.value(row) }
        }
        guard let place = try finder.find(key) else { return nil }
        misses += isKept ? 1 : 0
        if misses > LinkedColumn.fewValues { try keep(place) }
        return try reader.value(place)
    }

    /// Keeps the attached leaf of an object, if its objects have the numbers that begin at a multiple of 256, without gaps.
    private func keep(_ place: Row) throws(StorageError) {
        if !isNumbered {
            keys = table.rule == nil ? try CompactKeys(of: table) : nil
            isNumbered = true
        }
        let leaf = place.leaf
        guard let keys, let first = keys.number(of: leaf.key(at: 0)), first & 0xff == 0,
            keys.number(of: leaf.key(at: leaf.count - 1)) == first + leaf.count - 1, first >> 8 < LinkedColumn.mostLeaves
        else { return }
        switch try reader.values(of: leaf) {
        case .int(let values): keep(values, first >> 8, &integers)
        case .double(let values): keep(values, first >> 8, &doubles)
        case .string(let values): keep(values, first >> 8, &texts)
        default: break
        }
    }

    /// Keeps a leaf, and makes room for it if there is some.
    private func keep<Leaf>(_ leaf: Leaf, _ index: Int, _ leaves: inout [Leaf?]) {
        if leaves.count <= index, let cancellation, !cancellation.takesLeaves(index + 1 - leaves.count) { return }
        while leaves.count <= index { leaves.append(nil) }
        leaves[index] = leaf
    }
}
