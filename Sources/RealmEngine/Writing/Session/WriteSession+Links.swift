// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Inputs that are links.
extension WriteSession {
    /// The value of a link to an object of `table`: a stub, a primary key value, null, or with the option a whole object.
    func link(
        _ input: InputValue, to table: TableState, _ shape: SlotShape, _ options: Options
    ) throws(WriteError) -> Value {
        switch input {
        case .null:
            guard shape.isNullable else { throw WriteError(.nullNotAllowed, "a link belongs here, not null") }
            return .null
        case .link(let link):
            let target = try resolve(link, expecting: table)
            return .link(target.table, target.object)
        case .object(let body):
            guard options.writesNestedObjects else {
                throw WriteError(.nestedObject, "an object stands where a link belongs")
            }
            let target = try upsertNested(body, in: table, options)
            return .link(target.table, target.object)
        case .list, .expression: throw ValueReader.mismatch(input, .link)
        default: return try link(primaryKey: input, to: table)
        }
    }

    /// A link to the object with a primary key; throws `linkTargetMissing` without one.
    private func link(primaryKey input: InputValue, to table: TableState) throws(WriteError) -> Value {
        guard let column = table.primaryKey else { throw ValueReader.mismatch(input, .link) }
        let key = try ValueReader.read(input, as: column.type, isNullable: false)
        guard let target = try find(key, in: table) else { throw WriteSession.missingTarget(table) }
        return .link(target.table, target.object)
    }

    /// The object that a link leads to. `table` is the class that it has to be of.
    func resolve(_ link: LinkInput, expecting table: TableState?) throws(WriteError) -> ObjectPlace {
        switch link {
        case .reference(let name):
            let place = try reference(name)
            if let table, place.table != table.key { throw WriteSession.otherClass(table) }
            return place
        case .stub(let className, let key):
            guard let named = try stored(try transaction.table(named: Table.classPrefix + className)) else {
                throw WriteError(.linkTargetMissing, "there is no class '\(className)'")
            }
            if let table, named.key != table.key { throw WriteSession.otherClass(table) }
            guard let place = try find(key, in: named) else { throw WriteSession.missingTarget(named) }
            return place
        }
    }

    /// The error of a link to an object of another class.
    private static func otherClass(_ table: TableState) -> WriteError {
        WriteError(.typeMismatch, "the links lead to objects of class '\(table.className)'")
    }

    /// The error of a link to an object that is not there.
    private static func missingTarget(_ table: TableState) -> WriteError {
        WriteError(.linkTargetMissing, "no object of class '\(table.className)' has this key")
    }

    /// Creates the object, or writes its members into the one that has its primary key.
    private func upsertNested(
        _ body: InputObject, in table: TableState, _ options: Options
    ) throws(WriteError) -> ObjectPlace {
        if let column = table.primaryKey, let input = member(named: column.name, of: body) {
            let key = try at(
                .name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            if let existing = try find(key, in: table) {
                try write(body, to: existing, table, .update, options)
                return existing
            }
        }
        return try make(in: table, body, options: options)
    }
}

extension TableState {
    /// The name without prefix; the whole name for a table of the SDK.
    var className: String {
        name.hasPrefix(Table.classPrefix) ? String(name.dropFirst(Table.classPrefix.count)) : name
    }
}
