// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The members of an object that is about to be created.
///
/// They are divided into those that the object can be created with, and those that are written afterwards. Creating an object
/// with all plain values changes each leaf once instead of once for each property. Links, collections and mixed values follow
/// afterwards, as writing them may create other objects.
///
/// It is kept by a `WriteSession`, so that one object after the other is read into the same memory, and used on the
/// writer's thread only. It is a structure, whose parts need no check of their access for each member.
struct ObjectDraft {
    /// The values by the position of their property; nil for a property that has none yet.
    private(set) var values: [Value?] = []
    /// The values that own the bytes which `values` refer to.
    private(set) var lenders: [OwnedValue] = []
    /// The members that are written after the object was created: links, mixed values, collections and
    /// values that may be too long.
    private(set) var rest: [(name: String, value: InputValue, column: Column)] = []
    /// For each property, whether the body has a member for it.
    private(set) var given: [Bool] = []

    /// The length in bytes from which a value is written afterwards.
    ///
    /// A longer value may be rejected when it is stored, and the error must name its member.
    private static let longest = 1 << 20

    /// Discards the previous object, and reads the members of a new one.
    ///
    /// - Parameters:
    ///   - body: The members as they were given.
    ///   - primaryKey: The checked primary key; nil for a class without one.
    ///   - position: Returns the position of the property for a member, or nil for a member that is
    ///     ignored. Its arguments are the member, the position that usually follows, and whether the
    ///     client sent the member or it is a default of the class.
    /// - Throws: `WriteError` when a member does not fit its property. It need not be the first such
    ///   member.
    mutating func read(
        _ body: InputObject, of table: TableState, primaryKey: OwnedValue?,
        _ position: (_ name: String, _ guess: Int, _ isDefault: Bool) throws(WriteError) -> Int?
    ) throws(WriteError) {
        let columns = table.columns
        clear(columns.count)
        let primaryKeyColumn = table.primaryKeyLeafIndex
        // Most members come in the order of their properties.
        var next = 0
        for (index, member) in body.members.enumerated() {
            let (name, value) = (member.name, member.value)
            guard let position = try position(name, next, index >= body.givenCount) else { continue }
            next = position + 1
            given[position] = true
            let column = columns[position]
            if column.leafIndex == primaryKeyColumn {
                values[position] = primaryKey?.value
            } else {
                try read(value, name, of: column, at: position)
            }
        }
    }

    /// Removes all members, and prepares room for the given number of properties. The memory is kept.
    private mutating func clear(_ count: Int) {
        lenders.removeAll(keepingCapacity: true)
        rest.removeAll(keepingCapacity: true)
        guard values.count == count else {
            values = Array(repeating: nil, count: count)
            given = Array(repeating: false, count: count)
            return
        }
        for position in 0..<count {
            values[position] = nil
            given[position] = false
        }
    }

    /// Reads one member into `values`, or into `rest` when it has to be written later.
    private mutating func read(_ value: InputValue, _ name: String, of column: Column, at position: Int) throws(WriteError) {
        guard column.collection == nil, column.type != .link, column.type != .mixed else {
            return rest.append((name, value, column))
        }
        let held = try ValueReader.read(value, as: column.type, isNullable: column.isNullable)
        guard held.byteCount <= ObjectDraft.longest else { return rest.append((name, value, column)) }
        values[position] = held.value
        if held.borrows { lenders.append(held) }
    }
}
