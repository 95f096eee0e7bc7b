// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of several objects that are about to be created together, column by column.
///
/// It belongs to the writer's thread, and lives for one call.
struct ObjectGroup {
    /// A member that is written after the objects were created, such as a collection.
    struct Rest {
        /// The position of its object in the group.
        let row: Int
        /// The name of the member as it was given.
        let name: String
        let value: InputValue
        let column: Column
    }

    /// A list of values for each public column of the class; nil is the default value.
    private(set) var columns: [[Value?]]
    /// The primary keys; empty for a class without one.
    private(set) var keys: [Value] = []
    /// The members that are written afterwards, in the order of the objects.
    private(set) var rest: [Rest] = []
    /// The values that own the bytes which `columns` and `keys` refer to.
    private var lenders: [OwnedValue] = []

    /// Makes a group without objects, with room for so many.
    init(columnCount: Int, reserving count: Int) {
        columns = [[Value?]](repeating: [], count: columnCount)
        for position in columns.indices { columns[position].reserveCapacity(count) }
    }

    /// Adds an object.
    ///
    /// - Parameters:
    ///   - draft: Its members.
    ///   - key: Its primary key; nil for a class without one.
    ///   - keyPosition: The position of the primary key among the columns.
    mutating func append(_ draft: ObjectDraft, key: OwnedValue?, at keyPosition: Int?) {
        let row = columns.first?.count ?? 0
        for position in columns.indices { columns[position].append(draft.values[position]) }
        if let key, let keyPosition {
            columns[keyPosition][row] = key.value
            keys.append(key.value)
            if key.borrows { lenders.append(key) }
        }
        lenders.append(contentsOf: draft.lenders)
        for (name, value, column) in draft.rest { rest.append(Rest(row: row, name: name, value: value, column: column)) }
    }
}
