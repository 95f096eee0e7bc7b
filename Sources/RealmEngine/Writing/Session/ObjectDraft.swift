// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The members of an object that is going to be made: those that it can be made with, and those that are written
/// afterwards, because they lead somewhere else or are many.
///
/// An object, so that one object after the other is read into the same memory.
///
/// An object is created with all values that need nothing else, which costs one change of each leaf instead of one for each
/// property. Links, collections and mixed values follow afterwards, as they may create objects themselves.
final class ObjectDraft {
    /// By position of the property; nil where there is none.
    private(set) var values: [Value?] = []
    /// What `values` borrow from.
    private var lenders: [OwnedValue] = []
    /// Links, Mixed, collections, and what may be too long.
    private(set) var rest: [(name: String, value: InputValue, column: Column)] = []
    /// Whether there is a member for the property at a position.
    private(set) var given: [Bool] = []

    /// Longer values may be refused when they are stored, and the refusal has to name their member.
    private static let longest = 1 << 20

    /// Forgets the object before and reads `body` for one that gets `primaryKey`.
    ///
    /// Throws when a member is not what its property takes; it need not be the first mistake.
    func read(
        _ body: InputObject, of table: TableState, primaryKey: OwnedValue?,
        _ position: (_ name: String, _ guess: Int) throws(WriteError) -> Int?
    ) throws(WriteError) {
        let columns = table.columns
        clear(columns.count)
        let primaryKeyColumn = table.primaryKeyLeafIndex
        // Most members come in the order of their properties.
        var next = 0
        for (name, value) in body.members {
            guard let position = try position(name, next) else { continue }
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

    private func clear(_ count: Int) {
        values.removeAll(keepingCapacity: true)
        given.removeAll(keepingCapacity: true)
        lenders.removeAll(keepingCapacity: true)
        rest.removeAll(keepingCapacity: true)
        for _ in 0..<count {
            values.append(nil)
            given.append(false)
        }
    }

    private func read(_ value: InputValue, _ name: String, of column: Column, at position: Int) throws(WriteError) {
        guard column.collection == nil, column.type != .link, column.type != .mixed else {
            return rest.append((name, value, column))
        }
        let held = try ValueReader.read(value, as: column.type, isNullable: column.isNullable)
        guard held.byteCount <= ObjectDraft.longest else { return rest.append((name, value, column)) }
        values[position] = held.value
        if held.borrows { lenders.append(held) }
    }
}
