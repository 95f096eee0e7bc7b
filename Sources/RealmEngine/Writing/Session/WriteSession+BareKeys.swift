// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Bare keys as links, for those who have to know which objects a body needs before they write it.
extension WriteSession {
    /// Whether a class has properties with links or embedded objects; false for an unknown class.
    package func hasLinks(_ className: String) throws(WriteError) -> Bool {
        guard let table = try classTable(named: className) else { return false }
        return table.columns.contains { $0.type == .link }
    }

    /// Returns a body in which links stand in place of the bare keys of their targets, also inside of embedded objects.
    ///
    /// What cannot be the key of its target stays as it is, so that writing it fails as it would anyway. Whether there is an object
    /// with a key is not looked up.
    ///
    /// - Parameters:
    ///   - body: The members of an object.
    ///   - className: The class of the object.
    package func namingLinks(in body: InputObject, of className: String) throws(WriteError) -> InputObject {
        guard let table = try classTable(named: className) else { return body }
        return try namingLinks(in: body, of: table)
    }

    /// Returns a body of an object of a table with links in place of bare keys.
    private func namingLinks(in body: InputObject, of table: TableState) throws(WriteError) -> InputObject {
        var members = body.members
        for position in members.indices {
            let name = members[position].name
            guard !naming.isEscaped(name) || naming.isEscapedProperty(name) else { continue }
            guard let column = table.column(named: naming.property(name)), column.type == .link,
                let key = column.targetTable, isShown(key)
            else { continue }
            let target = try self.table(key)
            guard try knows(target) else { continue }
            if column.collection == .dictionary, case .object(let entries) = members[position].value {
                var named = entries.members
                for entry in named.indices { named[entry].value = try namingLinks(in: named[entry].value, to: target) }
                members[position].value = .object(InputObject(named, keepsNulls: entries.keepsNulls))
            } else {
                members[position].value = try namingLinks(in: members[position].value, to: target)
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
