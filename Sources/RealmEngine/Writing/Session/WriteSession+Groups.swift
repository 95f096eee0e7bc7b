// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Creating many objects at once, which writes each leaf and each node of an index once instead of once for each object.
extension WriteSession {
    /// The maximum number of objects to create together: enough for the nodes of an index to be written seldom, and few enough
    /// for deadlines and limits of memory to be checked between two groups.
    package static let groupCount = 10_000

    /// Creates several objects of a class, if nothing about them depends on the others.
    ///
    /// The result is the same as that of creating one after the other.
    ///
    /// - Parameters:
    ///   - className: The class, which must not be embedded.
    ///   - bodies: The members of each object.
    ///   - mayExist: Whether it is likely that the objects exist, so that this is found out before anything else.
    ///   - failed: Set to the position of the object that an error is about.
    ///   - options: How inputs are accepted.
    /// - Returns: The objects in the same order. Nil when they have to be written one after the other, because one of them
    ///   exists, has links, or does not fit its class, or rights have to be checked; nothing is changed then.
    /// - Throws: `WriteError`, of the first object that cannot be written.
    package func createTogether(
        _ className: String, _ bodies: [InputObject], mayExist: Bool = false, failed: inout Int?, options: Options = Options()
    ) throws(WriteError) -> [Written]? {
        guard bodies.count > 1, restriction == nil, !options.writesNestedObjects else { return nil }
        guard let table = try classTable(named: className), table.kind != .embedded else { return nil }
        if mayExist {
            for body in [bodies[0], bodies[bodies.count - 1]] where try exists(body, in: table) { return nil }
        }
        guard let group = gather(bodies, of: table, options) else { return nil }
        if group.rest.contains(where: { $0.value.needsOthers }) { return nil }
        defer { withExtendedLifetime(group) {} }
        guard let objects = try createNew(bodies.count, group.keys, group.columns, in: table) else { return nil }
        let made = objects.map { Written(place: ObjectPlace(table: table.key, object: $0), isCreated: true) }
        for rest in group.rest {
            failed = rest.row
            try at(.name(rest.name), try write(rest.value, to: rest.column, of: made[rest.row].place, .create, options))
        }
        failed = nil
        return made
    }

    /// Creates the objects of rows, if none of them exists.
    ///
    /// - Parameters:
    ///   - mayExist: Whether it is likely that the objects exist, so that this is found out before anything else.
    /// - Returns: The objects in the same order. Nil when they have to be written one after the other, because one of them
    ///   exists, or the class is not as it was when the rows were read; nothing is changed then.
    /// - Throws: `WriteError` when storage fails.
    package func createTogether(_ rows: ObjectRows, mayExist: Bool = false) throws(WriteError) -> [ObjectPlace]? {
        guard let table = try rowTable(rows.shape.className), RowShape(table, naming) == rows.shape else { return nil }
        defer { withExtendedLifetime(rows) {} }
        let keys = rows.keys
        if mayExist, let first = keys.first, let last = keys.last {
            for key in [first, last] where try stored(try transaction.findByPrimaryKey(key, in: table.key)) != nil { return nil }
        }
        return try createNew(rows.count, keys, rows.columns, in: table)?.map { ObjectPlace(table: table.key, object: $0) }
    }

    /// The shapes of the classes whose objects can be created from rows.
    ///
    /// - Parameter className: The only class that is asked for; nil for all.
    package func rowShapes(of className: String?) throws(WriteError) -> [RowShape] {
        if let className { return try rowTable(className).map { [RowShape($0, naming)] } ?? [] }
        var shapes: [RowShape] = []
        for key in try stored(try transaction.tableKeys()) {
            let state = try table(key)
            guard state.name.hasPrefix(Table.classPrefix), let table = try rowTable(state.className) else { continue }
            shapes.append(RowShape(table, naming))
        }
        return shapes
    }

    /// Returns the table of a class whose objects can be created from rows; nil when there is none, or rights have to be checked
    /// or defaults added for each object.
    private func rowTable(_ className: String) throws(WriteError) -> TableState? {
        guard restriction == nil, defaults.byClass[className] == nil, let table = try classTable(named: className),
            table.kind != .embedded
        else { return nil }
        return table
    }

    /// Creates objects; nil, with nothing changed, when one of the keys exists or is there twice.
    private func createNew(
        _ count: Int, _ keys: [Value], _ columns: [[Value?]], in table: TableState
    ) throws(WriteError) -> [ObjectKey]? {
        lookupCount += keys.count
        if try stored(try transaction.hasAnyPrimaryKey(of: keys, in: table.key)) { return nil }
        return try stored(try changing.createObjects(count, in: table.key, columns: columns))
    }

    /// Returns whether an object with the primary key of a body exists; false for a body without a sound one.
    private func exists(_ body: InputObject, in table: TableState) throws(WriteError) -> Bool {
        guard let column = table.primaryKey, let input = member(named: column.name, of: body) else { return false }
        let key: OwnedValue
        do throws(WriteError) {
            key = try ValueReader.read(input, as: column.type, isNullable: column.isNullable)
        } catch {
            return false
        }
        return try find(key, in: table) != nil
    }

    /// Reads all bodies; nil when one of them does not fit the class.
    private func gather(_ bodies: [InputObject], of table: TableState, _ options: Options) -> ObjectGroup? {
        var group = ObjectGroup(columnCount: table.columns.count, reserving: bodies.count)
        var draft = spareDraft.take() ?? ObjectDraft()
        defer { spareDraft = draft }
        let keyColumn = table.primaryKey
        let keyPosition = keyColumn.flatMap { key in table.columns.firstIndex { $0.leafIndex == key.leafIndex } }
        do throws(WriteError) {
            for body in bodies {
                let key: OwnedValue? = if let keyColumn { try newPrimaryKey(keyColumn, body, of: table, options) } else { nil }
                let body = completed(body, table)
                try draft.read(body, of: table, primaryKey: key) { (name, guess, isDefault) throws(WriteError) in
                    try position(named: name, of: table, options, guess: guess, isDefault: isDefault)
                }
                try requireComplete(table) { draft.given[$0] }
                group.append(draft, key: key, at: keyPosition)
            }
        } catch {
            return nil
        }
        return group
    }
}

/// Finds out whether a value can be written before other objects exist.
extension InputValue {
    /// Whether the value is, or contains, a link, or depends on the object that is changed.
    fileprivate var needsOthers: Bool {
        switch self {
        case .link, .expression, .each: return true
        case .list(let elements): return elements.contains { $0.needsOthers }
        case .object(let object): return object.members.contains { $0.value.needsOthers }
        default: return false
        }
    }
}

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
