// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// Writes that apply to all objects that match a query.
extension WriteSession {
    /// Merges `body` into all objects that match a query. The matches are determined before the first change.
    ///
    /// - Parameters:
    ///   - className: The class, which must not be embedded.
    ///   - query: The condition.
    ///   - arguments: The values of the query's placeholders.
    ///   - maximum: The largest number of matches that is accepted; nil for any number.
    ///   - body: The members that are written to each match.
    ///   - options: How inputs are accepted.
    /// - Returns: The number of matches.
    /// - Throws: `WriteError`: `tooManyAffected` for more than `maximum` matches, before anything is
    ///   written, and the errors of writing.
    package func patchWhere(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], maximum: Int? = nil, _ body: InputObject,
        options: Options = Options()
    ) throws(WriteError) -> Int {
        let table = try objectTable(className)
        let matches = try matches(of: query, in: table, arguments, for: .update, maximum: maximum)
        for (index, object) in matches.enumerated() {
            if index & 0x3f == 0x3f { try checkDeadline() }
            try requireRoom()
            let place = ObjectPlace(table: table.key, object: object)
            try authorize(.update, place, table)
            try write(body, to: place, table, .merge, options)
        }
        return matches.count
    }

    /// Deletes all objects that match a query, together with the embedded objects they own.
    ///
    /// - Parameters:
    ///   - className: The class, which must not be embedded.
    ///   - query: The condition.
    ///   - arguments: The values of the query's placeholders.
    ///   - maximum: The largest number of matches that is accepted; nil for any number.
    /// - Returns: The number of matches.
    /// - Throws: `WriteError` with the code `tooManyAffected` for more than `maximum` matches, before
    ///   anything is deleted.
    package func deleteWhere(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], maximum: Int? = nil
    ) throws(WriteError) -> Int {
        let table = try objectTable(className)
        let matches = try matches(of: query, in: table, arguments, for: .delete, maximum: maximum)
        for (index, object) in matches.enumerated() {
            if index & 0x3f == 0x3f { try checkDeadline() }
            try stored(try changing.deleteObject(object, in: table.key))
        }
        return matches.count
    }

    /// Deletes the objects of all classes that the sender of the write sees; the schema remains.
    ///
    /// - Returns: The number of deleted top-level objects, without embedded ones.
    /// - Throws: `WriteError` with the code `forbidden` when there is an object that the sender sees and may not delete.
    package func deleteAllObjects() throws(WriteError) -> Int {
        var count = 0
        for key in try stored(try transaction.tableKeys()) {
            let table = try table(key)
            guard table.name.hasPrefix(Table.classPrefix), table.kind != .embedded, isShown(key) else { continue }
            if restriction != nil {
                count += try deleteAllSeen(in: table)
            } else {
                count += try stored(try transaction.count(in: key))
                try stored(try changing.deleteAllObjects(in: key))
            }
            try checkDeadline()
        }
        return count
    }

    /// Deletes the objects of a class that the sender of the write sees; throws `forbidden` when it may not delete one of them.
    private func deleteAllSeen(in table: TableState) throws(WriteError) -> Int {
        let view = try view()
        guard let seen = view.table(table.key) else { return 0 }
        let keys = try queried(try Query.all.bind(to: seen, in: view).execute(check: { [budget] in budget.continues }))
        for (index, key) in keys.enumerated() {
            if index & 0x3f == 0x3f { try checkDeadline() }
            try authorize(.delete, ObjectPlace(table: table.key, object: key), table)
            try stored(try changing.deleteObject(key, in: table.key))
        }
        return keys.count
    }

    /// Returns the keys of all matches for which the sender of the write has the right to an action; throws `tooManyAffected` when
    /// there are more than `maximum`, and `forbidden` when the sender never has the right, or cannot query the class.
    private func matches(
        of query: Query, in table: TableState, _ arguments: [QueryArgument], for action: WriteAction, maximum: Int?
    ) throws(WriteError) -> [ObjectKey] {
        if let restriction, restriction.allowance(action, table) == nil { throw WriteSession.forbidden }
        let bound = try bind(query, to: table.key, arguments)
        let begin = Instant.now()
        let keys = try queried(try bound.execute(check: { [budget] in budget.continues }))
        didQuery(begin, table.className)
        if let maximum, keys.count > maximum {
            var error = WriteError(.tooManyAffected, "the query matches \(keys.count) objects, at most \(maximum) are allowed")
            error.counts = [(name: "matched", count: keys.count)]
            error.limit = maximum
            throw error
        }
        return keys
    }

    /// Binds a query to the present state of a class.
    ///
    /// - Parameters:
    ///   - query: The parsed query.
    ///   - arguments: The values of the query's placeholders.
    /// - Throws: `WriteError` for names and arguments that do not fit the class.
    func bind(_ query: Query, to table: TableKey, _ arguments: [QueryArgument]) throws(WriteError) -> BoundQuery {
        let view = try view()
        guard let table = view.table(table) else {
            throw restriction != nil ? WriteSession.forbidden : WriteError(.classNotFound, "there is no such class")
        }
        return try queried(
            try query.bind(
                to: table, in: view, arguments: arguments, mapping: backlinkNames.mapping, check: { [budget] in budget.continues }
            ))
    }

    // MARK: - Assertions

    /// Checks that an object exists and matches a query.
    ///
    /// - Parameters:
    ///   - query: The condition; nil only checks that the object exists.
    ///   - arguments: The values of the query's placeholders.
    /// - Returns: The object.
    /// - Throws: `WriteError` with the code `assertionFailed` otherwise.
    package func assert(
        _ place: ObjectPlace?, _ query: Query? = nil, arguments: [QueryArgument] = []
    ) throws(WriteError) -> ObjectPlace {
        guard let place else { throw WriteError(.assertionFailed, "there is no object with this key") }
        guard let query else { return place }
        let bound = try bind(query, to: place.table, arguments)
        guard let row = try stored(try bound.table.find(place.object)),
            try queried(try bound.matches(row, check: { [budget] in budget.continues }))
        else { throw WriteError(.assertionFailed, "the object does not match 'where'") }
        return place
    }

    /// Checks how many objects of a class match a query.
    ///
    /// - Parameters:
    ///   - query: The condition.
    ///   - arguments: The values of the query's placeholders.
    ///   - count: The exact number that must match; nil means at least one.
    /// - Returns: The number of matches.
    /// - Throws: `WriteError` with the code `assertionFailed`, and the number of matches, otherwise.
    package func assert(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], count: Int? = nil
    ) throws(WriteError) -> Int {
        let bound = try bind(query, to: try table(class: className).key, arguments)
        let matched = try queried(try bound.count(check: { [budget] in budget.continues }))
        guard count.map({ $0 == matched }) ?? (matched > 0) else {
            var error = WriteError(.assertionFailed, "expected \(count.map(String.init) ?? "some") matches, found \(matched)")
            error.counts = [(name: "matched", count: matched)]
            throw error
        }
        return matched
    }

    // MARK: - Numbers

    /// Adds an amount to a number of an object.
    ///
    /// - Parameters:
    ///   - property: The property, or the path to a number.
    ///   - amount: The amount, which may be negative.
    /// - Returns: The new value.
    /// - Throws: `WriteError`: `outOfRange` when the type cannot hold the sum, `nullNotAllowed` for null,
    ///   `typeMismatch` when the value is no number, `primaryKeyImmutable` for a primary key.
    package func increment(
        _ property: PropertyAddress, of place: ObjectPlace, by amount: InputValue
    ) throws(WriteError) -> Value {
        try authorize(.update, place, try objectTable(of: place))
        try requireSeen(place)
        guard case .slot(let slot, let shape) = try locate(property, in: place),
            [.int, .float, .double, .decimal].contains(shape.type)
        else { throw WriteError(.typeMismatch, "'\(property.text)' is not a number") }
        if case .property(let owner, let column) = slot, try table(owner.table).primaryKey?.leafIndex == column.leafIndex {
            throw WriteError(.primaryKeyImmutable, "the primary key of an object never changes")
        }
        let difference = try at(.name("by"), try ValueReader.read(amount, as: shape.type, isNullable: false))
        guard let present = try value(in: slot), !present.isNull else {
            throw WriteError(.nullNotAllowed, "null cannot be incremented")
        }
        let sum = try WriteSession.sum(present, difference.value)
        try put(sum, in: slot)
        return sum
    }

    /// Returns the sum in the type of the left number; throws `outOfRange` when that type cannot hold it.
    private static func sum(_ left: Value, _ right: Value) throws(WriteError) -> Value {
        switch (left, right) {
        case (.int(let left), .int(let right)):
            let (sum, overflow) = left.addingReportingOverflow(right)
            guard !overflow else { throw WriteError(.outOfRange, "the sum is beyond 64 bits") }
            return .int(sum)
        case (.float(let left), .float(let right)):
            guard (left + right).isFinite || !left.isFinite || !right.isFinite else { throw tooLarge("float") }
            return .float(left + right)
        case (.double(let left), .double(let right)):
            guard (left + right).isFinite || !left.isFinite || !right.isFinite else { throw tooLarge("double") }
            return .double(left + right)
        case (.decimal(let left), .decimal(let right)):
            let sum = left + right
            guard sum.isFinite || !left.isFinite || !right.isFinite else { throw tooLarge("decimal128") }
            return .decimal(sum)
        default: throw WriteError(.typeMismatch, "the value is not a number")
        }
    }

    /// Makes the error for a sum that is beyond the range of a type.
    private static func tooLarge(_ type: String) -> WriteError { WriteError(.outOfRange, "the sum exceeds the \(type) range") }
}
