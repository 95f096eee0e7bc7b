// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The members of an object that is going to be made: those that it can be made with, and those that are written
/// afterwards, because they lead somewhere else or are many.
struct ObjectDraft {
    /// By position of the property; nil where there is none.
    private(set) var values: [Value?]
    /// What `values` borrow from.
    private(set) var lenders: [HeldValue] = []
    /// Links, Mixed, collections, and what may be too long.
    private(set) var rest: [(name: String, value: InputValue, column: Column)] = []
    /// Whether there is a member for the property at a position.
    private(set) var given: [Bool]

    /// Longer values may be refused when they are stored, and the refusal has to name their member.
    private static let longest = 1 << 20

    /// Throws when a member is not what its property takes; which mistake is the first one it does not tell.
    init(
        _ body: InputObject, of table: TableState, _ position: (_ name: String, _ guess: Int) throws(WriteError) -> Int?
    ) throws(WriteError) {
        let columns = table.columns
        let primaryKey = table.primaryKey?.leafIndex
        values = Array(repeating: nil, count: columns.count)
        given = Array(repeating: false, count: columns.count)
        // Most members come in the order of their properties.
        var next = 0
        for (name, value) in body.members {
            guard let position = try position(name, next) else { continue }
            next = position + 1
            given[position] = true
            let column = columns[position]
            if column.leafIndex == primaryKey { continue }
            guard column.collection == nil, column.type != .link, column.type != .mixed else {
                rest.append((name, value, column))
                continue
            }
            let held = try ValueReader.read(value, as: column.type, isNullable: column.isNullable)
            guard held.byteCount <= ObjectDraft.longest else {
                rest.append((name, value, column))
                continue
            }
            values[position] = held.value
            if held.borrows { lenders.append(held) }
        }
    }
}
