// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Replaces bare keys by links, so that an import knows the targets before it writes.
extension WriteSession {
    /// Returns whether a class has properties with links or embedded objects; false for an unknown class.
    package func hasLinks(_ className: String) throws(WriteError) -> Bool {
        try classTable(named: className)?.columns.contains { $0.type == .link } ?? false
    }

    /// Returns a body in which links stand in place of the bare keys of their targets, also inside of embedded objects.
    ///
    /// What cannot be the key of its target stays as it is, so that writing it fails as it would anyway; so does the member of a
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
            guard try knows(target) else { continue }
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
