// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reading inputs as links.
extension WriteSession {
    /// Returns the value of a link to an object of a class.
    ///
    /// - Parameters:
    ///   - input: A link, a primary key value, null, or with `writesNestedObjects` a whole object, which
    ///     is created or updated.
    ///   - table: The class that the link must lead to.
    ///   - shape: Whether null is accepted.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `linkTargetMissing`, `nullNotAllowed`, `nestedObject` for a whole object
    ///   without the option, `typeMismatch` for other inputs.
    func link(
        _ input: InputValue, to table: TableState, _ shape: SlotShape, _ options: Options
    ) throws(WriteError) -> Value {
        switch input {
        case .null:
            guard shape.isNullable else { throw WriteError(.nullNotAllowed, "expected a link, got null") }
            return .null
        case _ where !isShown(table.key): throw WriteSession.hiddenTarget
        case .link(let link):
            let target = try resolve(link, expecting: table)
            return .link(target.table, target.object)
        case .object(let body):
            guard options.writesNestedObjects else {
                throw WriteError(.nestedObject, "expected a link, got an object")
            }
            let target = try aside { () throws(WriteError) in try upsertNested(body, in: table, options) }
            guard try mayLink(to: target) else { throw WriteSession.missingTarget(table) }
            return .link(target.table, target.object)
        case .list, .expression, .each: throw ValueReader.mismatch(input, .link)
        default: return try link(primaryKey: input, to: table)
        }
    }

    /// Returns a link to the object with a primary key; throws `linkTargetMissing` when there is none.
    private func link(primaryKey input: InputValue, to table: TableState) throws(WriteError) -> Value {
        guard let column = knownPrimaryKey(of: table) else {
            // A hidden key leads nowhere, whether an object has it or not.
            throw table.primaryKey == nil ? ValueReader.mismatch(input, .link) : WriteSession.missingTarget(table)
        }
        let key = try ValueReader.read(input, as: column.type, isNullable: false)
        guard let target = try find(key, in: table), try mayLink(to: target) else { throw WriteSession.missingTarget(table) }
        return .link(target.table, target.object)
    }

    /// Returns the object that a link refers to.
    ///
    /// - Parameters:
    ///   - link: A class with a key, or the name of an object that was written earlier in the same batch.
    ///   - table: The class that the object must belong to; nil accepts all classes.
    /// - Throws: `WriteError`: `linkTargetMissing` when there is no such object, `typeMismatch` for an
    ///   object of another class.
    func resolve(_ link: LinkInput, expecting table: TableState?) throws(WriteError) -> ObjectPlace {
        switch link {
        case .reference(let name):
            let place = try reference(name)
            if let table, place.table != table.key { throw WriteSession.otherClass(table) }
            guard try isThere(place) else { throw WriteError(.linkTargetMissing, "the object of the name '\(name)' is deleted") }
            guard try mayLink(to: place) else { throw WriteSession.missingTarget(try self.table(place.table)) }
            return place
        case .stub(let className, let key):
            guard let named = try classTable(named: className) else {
                throw WriteError(.linkTargetMissing, "there is no class '\(className)'")
            }
            if let table, named.key != table.key { throw WriteSession.otherClass(table) }
            guard let place = try find(key, in: named) else { throw WriteSession.missingTarget(named) }
            guard try mayLink(to: place) else { throw WriteSession.missingTarget(named) }
            return place
        }
    }

    /// The error for a link to a class that the realm does not show: nothing is known of its objects.
    private static let hiddenTarget = WriteError(
        .readOnlyProperty, "the links lead to objects that this realm does not show; they can be removed, but not made")

    /// Makes the error for a link to an object of a wrong class.
    private static func otherClass(_ table: TableState) -> WriteError {
        WriteError(.typeMismatch, "the link must lead to an object of class '\(table.className)'")
    }

    /// Makes the error for a link to an object that does not exist.
    private static func missingTarget(_ table: TableState) -> WriteError {
        WriteError(.linkTargetMissing, "no object of class '\(table.className)' has this key")
    }

    /// Creates an object that is given in place of a link, or writes its members to the object that has its primary key.
    private func upsertNested(
        _ body: InputObject, in table: TableState, _ options: Options
    ) throws(WriteError) -> ObjectPlace {
        if let column = knownPrimaryKey(of: table), let input = member(named: column.name, of: body) {
            let key = try at(
                .name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            if let existing = try find(key, in: table) {
                try requireKnown(existing, table)
                try authorize(.update, existing, table)
                try write(body, to: existing, table, .update, options)
                return existing
            }
        }
        return try make(in: table, body, options: options)
    }
}

extension TableState {
    /// The name of the class without the prefix of its table; the whole name for tables that are no classes.
    var className: String {
        name.dropping(prefix: Table.classPrefix).map { String($0) } ?? name
    }
}

/// Replaces bare keys by links, so that an import knows the targets before it writes.
extension WriteSession {
    /// Returns whether a class has properties with links or embedded objects; false for an unknown class.
    package func hasLinks(_ className: String) throws(WriteError) -> Bool {
        try classTable(named: className)?.columns.contains { $0.type == .link } ?? false
    }

    /// Returns a body in which links stand in place of the bare keys of their targets, also inside of embedded objects.
    ///
    /// A value that cannot be the key of its target stays as it is, so that writing it fails anyway; so does the member of a
    /// hidden property. Whether there is an object with a key is not looked up.
    ///
    /// - Parameters:
    ///   - body: The members of an object.
    package func namingLinks(in body: InputObject, of className: String) throws(WriteError) -> InputObject {
        guard let table = try classTable(named: className), table.columns.contains(where: { $0.type == .link }) else {
            return body
        }
        guard let restriction else { return try namingLinks(in: body, of: table) }
        return try aside { () throws(WriteError) -> InputObject in
            // Whether the object is made or changed is not known yet.
            var named = body
            var former: Set<Int>?
            for action in [WriteAction.create, .update] where restriction.allowance(action, table) != nil {
                restriction.action = action
                let hidden = fields(of: table)?.hidden
                // The same members are named by both, unless embedded classes differ.
                guard former == nil || former != hidden || hasEmbedded(table) else { continue }
                former = hidden
                named = try namingLinks(in: named, of: table)
            }
            return named
        }
    }

    /// Returns whether objects of a table may have embedded ones.
    private func hasEmbedded(_ table: TableState) -> Bool {
        table.columns.contains { column in
            guard column.type == .link, let key = column.targetTable else { return false }
            return (try? self.table(key))?.kind == .embedded
        }
    }

    /// Returns a body of an object of a table with links in place of bare keys.
    private func namingLinks(in body: InputObject, of table: TableState) throws(WriteError) -> InputObject {
        var members = body.members
        for index in members.indices {
            guard let position = knownPosition(ofMember: members[index].name, of: table) else { continue }
            let column = table.columns[position]
            guard column.type == .link, let key = column.targetTable, isShown(key) else { continue }
            let target = try self.table(key)
            guard target.kind == .embedded ? true : try knows(target) else { continue }
            if column.collection == .dictionary, case .object(let entries) = members[index].value {
                var named = entries.members
                for entry in named.indices { named[entry].value = try namingLinks(in: named[entry].value, to: target) }
                members[index].value = .object(InputObject(named, keepsNulls: entries.keepsNulls))
            } else {
                members[index].value = try namingLinks(in: members[index].value, to: target)
            }
        }
        return InputObject(members, keepsNulls: body.keepsNulls)
    }

    /// Returns a value of a property that leads to objects of a table, with links in place of bare keys.
    private func namingLinks(in value: InputValue, to table: TableState) throws(WriteError) -> InputValue {
        switch value {
        case .list(let elements):
            var named: [InputValue] = []
            named.reserveCapacity(elements.count)
            for element in elements { named.append(try namingLinks(in: element, to: table)) }
            return .list(named)
        case .object(let object):
            return table.kind == .embedded ? .object(try namingLinks(in: object, of: table)) : value
        case .bool, .integer, .wideInteger, .real, .wideReal, .text, .typed:
            guard table.kind != .embedded, isKey(value, of: table) else { return value }
            return .link(.stub(className: table.className, key: .primaryKey(value)))
        case .null, .link, .expression, .each: return value
        }
    }

    /// Whether a value can be the primary key of an object of a table.
    private func isKey(_ value: InputValue, of table: TableState) -> Bool {
        guard let column = knownPrimaryKey(of: table) else { return false }
        do throws(WriteError) {
            _ = try ValueReader.read(value, as: column.type, isNullable: false)
            return true
        } catch {
            return false
        }
    }
}
