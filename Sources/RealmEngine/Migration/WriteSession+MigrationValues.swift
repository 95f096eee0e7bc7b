// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Computes the values of migration steps.
extension WriteSession {
    /// Returns the members of an object with their values computed.
    ///
    /// - Parameters:
    ///   - template: The members.
    ///   - bindings: The values of names in expressions.
    /// - Throws: `WriteError` of an expression, with the path of its member.
    func object(_ template: ObjectTemplate, _ bindings: MigrationOperand.Bindings) throws(WriteError) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        members.reserveCapacity(template.members.count)
        for (name, value) in template.members {
            members.append((name: name, value: try at(.name(name), try self.value(value, bindings))))
        }
        return InputObject(members)
    }

    /// Returns a computed value.
    private func value(_ template: ValueTemplate, _ bindings: MigrationOperand.Bindings) throws(WriteError) -> InputValue {
        switch template {
        case .constant(let input):
            try countComputed()
            return input
        case .expression(let expression): return try result(of: expression, bindings)
        case .list(let templates):
            var elements: [InputValue] = []
            for (index, element) in templates.enumerated() {
                elements.append(try at(.index(index), try value(element, bindings)))
            }
            return .list(elements)
        case .object(let template): return .object(try object(template, bindings))
        case .link(let className, let expression):
            let key = try at(.name("$link"), try at(.name("key"), try result(of: expression, bindings)))
            if case .null = key { return .null }
            return .link(.stub(className: className, key: .primaryKey(key)))
        case .each(let each): return try at(.name("$each"), try values(each, bindings))
        }
    }

    /// Returns one value for each element of a collection; for null it is null.
    private func values(
        _ each: ValueTemplate.EachTemplate, _ bindings: MigrationOperand.Bindings
    ) throws(WriteError) -> InputValue {
        guard let collection = try at(.name("in"), try collection(each.source, bindings)) else { return .null }
        var values: [InputValue] = []
        for element in collection.elements {
            try countRound()
            let inner = bindings.adding(element, as: each.variable, keyAs: each.keyVariable)
            values.append(try at(.name("value"), try value(each.value, inner)))
        }
        guard collection.isDictionary else { return .list(values) }
        let entries = zip(collection.elements, values).map { (name: WriteSession.text(of: $0.key), value: $1) }
        return .object(InputObject(entries, keepsNulls: true))
    }

    /// Returns the elements of the collection that a key path leads to; nil when it leads to null.
    ///
    /// - Throws: `WriteError` with the code `typeMismatch` when it leads to something else.
    func collection(
        _ path: ExpressionPath, _ bindings: MigrationOperand.Bindings
    ) throws(WriteError) -> (elements: [MigrationOperand.Element], isDictionary: Bool)? {
        switch try operand(path, bindings) {
        case .collection(let elements, let isDictionary): return (elements, isDictionary)
        case .value(let held) where held.value.isNull: return nil
        case .value, .object:
            throw WriteError(.typeMismatch, "'\(path.text)' is not a list, set or dictionary")
        }
    }

    /// Returns the result of an expression as an input. A key path alone may lead to a collection or an
    /// object, which are copied: an object as a link, an embedded one with its contents.
    private func result(of expression: Expression, _ bindings: MigrationOperand.Bindings) throws(WriteError) -> InputValue {
        if case .path(let path) = expression { return try input(of: try operand(path, bindings)) }
        let value = try expression.value(
            { path throws(WriteError) in
                guard case .value(let held) = try operand(path, bindings) else {
                    throw WriteError(
                        .typeMismatch, "'\(path.text)' is an object or a collection, which cannot be combined")
                }
                return held
            },
            spending: { byteCount throws(WriteError) in try spend(bytes: byteCount) })
        try countComputed(value.byteCount)
        return InputValue(untyped: value)
    }

    private func input(of operand: MigrationOperand) throws(WriteError) -> InputValue {
        try spend(bytes: operand.byteCount)
        switch operand {
        case .value(let held): return InputValue(untyped: held)
        case .object(let place, let state): return try input(of: place, state)
        case .collection(let elements, false):
            var values: [InputValue] = []
            for element in elements { values.append(try input(of: element.value)) }
            return .list(values)
        case .collection(let entries, true):
            var members: [(name: String, value: InputValue)] = []
            for entry in entries {
                members.append((name: WriteSession.text(of: entry.key), value: try input(of: entry.value)))
            }
            return .object(InputObject(members, keepsNulls: true))
        }
    }

    /// Returns an object as an input: a link, or all properties of an object that is embedded now or was so before.
    private func input(of place: ObjectPlace, _ state: MigrationOperand.State) throws(WriteError) -> InputValue {
        let past = state == .past ? migrationWork.past?.table(place.table) : nil
        var isThere = true
        if case .past = state { isThere = try stored(try transaction.tableKeys()).contains(place.table) }
        guard isThere || past?.kind == .embedded else {
            throw WriteError(.linkTargetMissing, "the class of the object was removed by an earlier step")
        }
        let present = isThere ? try table(place.table) : nil
        if present?.kind != .embedded, past?.kind != .embedded {
            return .link(.stub(className: present?.className ?? "", key: .objectKey(place.object)))
        }
        var members: [(name: String, value: InputValue)] = []
        for column in past?.columns ?? present?.columns ?? [] {
            let value = try operand(named: column.name, of: place, state)
            members.append((name: naming.member(column.name), value: try input(of: value)))
        }
        return .object(InputObject(members))
    }

    /// Returns the key of an entry or the index of an element as text.
    private static func text(of key: OwnedValue) -> String {
        key.use { value in
            switch value {
            case .string(let bytes): return bytes.string
            case .int(let number): return String(number)
            default: return ""
            }
        }
    }
}

extension InputValue {
    /// Makes the input of a computed value. Numbers have no type of their own, so that a whole number fits
    /// a property of type double too.
    fileprivate init(untyped held: OwnedValue) {
        self = held.use { value in
            switch value {
            case .null, .list, .dictionary: return .null
            case .link(_, let object): return .link(.stub(className: "", key: .objectKey(object)))
            case .bool(let flag): return .bool(flag)
            case .int(let number): return .integer(number)
            case .float(let number): return .typed(.float(number))
            case .double(let number): return .real(number)
            case .string(let bytes): return .typed(.stringBytes(bytes.array))
            case .binary(let bytes): return .typed(.binary(bytes.array))
            case .timestamp(let date): return .typed(.timestamp(date))
            case .decimal(let number): return .typed(.decimal(number))
            case .objectID(let id): return .typed(.objectID(id))
            case .uuid(let id): return .typed(.uuid(id))
            }
        }
    }
}
