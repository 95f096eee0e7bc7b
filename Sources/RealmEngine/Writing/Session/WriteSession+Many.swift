// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// Many objects at once, chosen by a query.
extension WriteSession {
    /// Merges `body` into every match; returns how many there were. The matches are fixed before the first change.
    ///
    /// More matches than `maximum` are `tooManyAffected`, and nothing is written.
    package func patchWhere(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], maximum: Int? = nil, _ body: InputObject,
        options: Options = Options()
    ) throws(WriteError) -> Int {
        let table = try objectTable(className)
        let matches = try matches(of: query, in: table, arguments, maximum: maximum)
        for (index, object) in matches.enumerated() {
            if index & 0x3f == 0x3f { try checkDeadline() }
            try requireRoom()
            try write(body, to: ObjectPlace(table: table.key, object: object), table, .merge, options)
        }
        return matches.count
    }

    /// Deletes every match with what it owns; returns how many there were.
    package func deleteWhere(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], maximum: Int? = nil
    ) throws(WriteError) -> Int {
        let table = try objectTable(className)
        let matches = try matches(of: query, in: table, arguments, maximum: maximum)
        for (index, object) in matches.enumerated() {
            if index & 0x3f == 0x3f { try checkDeadline() }
            try stored(try changing.deleteObject(object, in: table.key))
        }
        return matches.count
    }

    /// Empties every class and keeps the schema; returns how many objects went, embedded ones not counted.
    package func deleteAllObjects() throws(WriteError) -> Int {
        var count = 0
        for key in try stored(try transaction.tableKeys()) {
            let table = try table(key)
            guard table.name.hasPrefix(Table.classPrefix), table.kind != .embedded else { continue }
            count += try stored(try transaction.count(in: key))
            try stored(try changing.deleteAllObjects(in: key))
            try checkDeadline()
        }
        return count
    }

    /// The keys of all matches; throws `tooManyAffected` when there are more than `maximum`.
    private func matches(
        of query: Query, in table: TableState, _ arguments: [QueryArgument], maximum: Int?
    ) throws(WriteError) -> [ObjectKey] {
        let bound = try bind(query, to: table.key, arguments)
        let begin = Instant.now()
        let keys = try queried(try bound.execute(check: { [budget] in budget.goesOn }))
        didQuery(begin, table.className)
        if let maximum, keys.count > maximum {
            var error = WriteError(.tooManyAffected, "the query matches \(keys.count) objects, at most \(maximum) are allowed")
            error.counts = [(name: "matched", count: keys.count)]
            error.limit = maximum
            throw error
        }
        return keys
    }

    /// A query over the present state of a class.
    func bind(_ query: Query, to table: TableKey, _ arguments: [QueryArgument]) throws(WriteError) -> BoundQuery {
        let view = try view()
        guard let table = view.table(table) else { throw WriteError(.classNotFound, "there is no such class") }
        return try queried(
            try query.bind(
                to: table, in: view, arguments: arguments, mapping: backlinkNames.mapping, check: { [budget] in budget.goesOn }))
    }

    // MARK: - Assertions

    /// Throws `assertionFailed` unless there is an object, and it matches `query` if there is one. Returns the object.
    package func assert(
        _ place: ObjectPlace?, _ query: Query? = nil, arguments: [QueryArgument] = []
    ) throws(WriteError) -> ObjectPlace {
        guard let place else { throw WriteError(.assertionFailed, "there is no object with this key") }
        guard let query else { return place }
        let bound = try bind(query, to: place.table, arguments)
        guard let row = try stored(try bound.table.find(place.object)),
            try queried(try bound.matches(row, check: { [budget] in budget.goesOn }))
        else { throw WriteError(.assertionFailed, "the object does not match") }
        return place
    }

    /// Throws `assertionFailed` unless exactly `count` objects match, or at least one when it is nil.
    package func assert(
        _ className: String, _ query: Query, arguments: [QueryArgument] = [], count: Int? = nil
    ) throws(WriteError) -> Int {
        let bound = try bind(query, to: try table(class: className).key, arguments)
        let matched = try queried(try bound.count(check: { [budget] in budget.goesOn }))
        guard count.map({ $0 == matched }) ?? (matched > 0) else {
            var error = WriteError(.assertionFailed, "\(matched) objects match")
            error.counts = [(name: "matched", count: matched)]
            throw error
        }
        return matched
    }

    // MARK: - Numbers

    /// Adds to a number; returns the new value. `outOfRange` when the type cannot hold it.
    package func increment(
        _ property: PropertyAddress, of place: ObjectPlace, by amount: InputValue
    ) throws(WriteError) -> Value {
        _ = try objectTable(of: place)
        guard case .slot(let slot, let shape) = try locate(property, in: place),
            [.int, .float, .double, .decimal].contains(shape.type)
        else { throw WriteError(.typeMismatch, "'\(property.text)' is no number") }
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

    /// The sum in the type of the left number; throws `outOfRange` when that cannot hold it.
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
        default: throw WriteError(.typeMismatch, "the value is no number")
        }
    }

    /// The error of a sum that is beyond a type.
    private static func tooLarge(_ type: String) -> WriteError { WriteError(.outOfRange, "no \(type) is that large") }
}
