// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Whole objects.
extension WriteSession {
    /// Which values an upsert writes.
    package enum UpsertPolicy: Sendable {
        /// Those that differ.
        case modified
        /// All that are given.
        case all
    }

    /// Creates an object. `name` is what later links of this session may call it.
    package func create(
        _ className: String, _ body: InputObject, as name: String? = nil, options: Options = Options()
    ) throws(WriteError) -> Written {
        let place = try make(in: try objectTable(className), body, options: options)
        if let name { named[name] = place }
        return Written(place: place, isCreated: true)
    }

    /// Creates an object, or writes the members given into the one with its primary key.
    package func upsert(
        _ className: String, _ body: InputObject, _ policy: UpsertPolicy, as name: String? = nil,
        options: Options = Options()
    ) throws(WriteError) -> Written {
        let table = try objectTable(className)
        guard let column = table.primaryKey else {
            throw WriteError(.noPrimaryKey, "class '\(className)' has no primary key to find objects by")
        }
        var existing: ObjectPlace?
        if let input = member(named: column.name, of: body) {
            let key = try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            existing = try find(key, in: table)
        }
        if let existing { try write(body, to: existing, table, policy == .all ? .update : .updateModified, options) }
        let place = if let existing { existing } else { try make(in: table, body, options: options) }
        if let name { named[name] = place }
        return Written(place: place, isCreated: existing == nil)
    }

    /// Creates the object of that key, or replaces everything in it. Throws `objectNotFound` for a key that no new object can
    /// get.
    package func put(
        _ key: ResolvedKey, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        let table = try table(key.table)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(table.className) }
        if let existing = key.place {
            try requireSameKey(body, existing, table)
            try write(body, to: existing, table, .replace, options)
            return Written(place: existing, isCreated: false)
        }
        guard let column = table.primaryKey, let value = try primaryKey(key.name, column) else {
            throw WriteError(.objectNotFound, "there is no object with this key")
        }
        if let input = member(named: column.name, of: body) {
            let given = try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            guard given.value.isIdentical(to: value.value) else { throw WriteSession.keyMismatch(column) }
        }
        return Written(place: try make(in: table, body, primaryKey: value, options: options), isCreated: true)
    }

    /// The primary key that a new object gets from its address; nil for an address that is no primary key.
    private func primaryKey(_ name: ObjectName, _ column: Column) throws(WriteError) -> OwnedValue? {
        switch name {
        case .text(let text):
            guard case .primaryKey(let value)? = KeyText.parse(text, primaryKey: column) else { return nil }
            return value
        case .primaryKey(let input):
            return try ValueReader.read(input, as: column.type, isNullable: column.isNullable)
        case .objectKey, .reference: return nil
        }
    }

    /// Throws `keyMismatch` when a body names another object than its address.
    private func requireSameKey(_ body: InputObject, _ place: ObjectPlace, _ table: TableState) throws(WriteError) {
        guard let column = table.primaryKey, let input = member(named: column.name, of: body) else { return }
        guard try isPrimaryKey(input, column, of: place) else { throw WriteSession.keyMismatch(column) }
    }

    private static func keyMismatch(_ column: Column) -> WriteError {
        WriteError(
            .keyMismatch, "the primary key in the object is another than the one it is addressed by",
            path: InputPath([.name(column.name)]))
    }

    /// Changes the members given: a merge patch.
    package func patch(
        _ place: ObjectPlace, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        try write(body, to: place, try objectTable(of: place), .merge, options)
        return Written(place: place, isCreated: false)
    }

    /// A property of an object's class; throws `notFound` when the class has none of this name.
    package func property(_ name: String, of place: ObjectPlace) throws(WriteError) -> Column {
        let table = try table(place.table)
        guard let column = table.column(named: name) else {
            throw WriteError(.notFound, "class '\(table.className)' has no property '\(name)'")
        }
        return column
    }

    /// Writes one property whole.
    package func setProperty(
        _ property: Column, of place: ObjectPlace, to value: InputValue, options: Options = Options()
    ) throws(WriteError) {
        try write(value, toMember: property, of: place, try objectTable(of: place), .update, options)
    }

    /// Deletes an object with what it owns.
    package func delete(_ place: ObjectPlace) throws(WriteError) {
        _ = try objectTable(of: place)
        try stored(try changing.deleteObject(place.object, in: place.table))
    }

    // MARK: - Making

    /// Makes an object from `body`, under `primaryKey` or the one in the body.
    func make(
        in table: TableState, _ body: InputObject, primaryKey: OwnedValue? = nil, options: Options
    ) throws(WriteError) -> ObjectPlace {
        var key = primaryKey
        if key == nil, let column = table.primaryKey {
            let value = try newPrimaryKey(column, body)
            if try find(value, in: table) != nil {
                throw WriteError(
                    .duplicateKey, "class '\(table.className)' already has an object with this primary key",
                    path: InputPath([.name(column.name)]))
            }
            key = value
        }
        let draft = spareDraft ?? ObjectDraft()
        // Objects in the place of links are made on the way, and need drafts of their own.
        spareDraft = nil
        defer { spareDraft = draft }
        let isSound = read(body, of: table, key, options, into: draft)
        let object = try create(in: table.key, key, isSound ? draft : nil)
        let place = ObjectPlace(table: table.key, object: object)
        guard isSound else {
            try write(body, to: place, table, .create, options)
            return place
        }
        for (name, value, column) in draft.rest {
            try at(.name(name), try write(value, to: column, of: place, .create, options))
        }
        try requireComplete(table) { draft.given[$0] }
        return place
    }

    /// Whether all members are what their properties take. What is wrong with one is found by writing them one after the
    /// other, which finds the first mistake.
    private func read(
        _ body: InputObject, of table: TableState, _ key: OwnedValue?, _ options: Options, into draft: ObjectDraft
    ) -> Bool {
        do throws(WriteError) {
            try draft.read(body, of: table, primaryKey: key) { name, guess throws(WriteError) in
                try position(named: name, of: table, options, guess: guess)
            }
            return true
        } catch {
            return false
        }
    }

    /// Makes the object with what can be written at once.
    private func create(in table: TableKey, _ key: OwnedValue?, _ draft: ObjectDraft?) throws(WriteError) -> ObjectKey {
        defer { withExtendedLifetime((key, draft)) {} }
        return try stored(try changing.createObject(in: table, primaryKey: key?.value, values: draft?.values ?? []))
    }

    /// The key given, or a new one for types that the server can make up.
    private func newPrimaryKey(_ column: Column, _ body: InputObject) throws(WriteError) -> OwnedValue {
        if let input = member(named: column.name, of: body) {
            return try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
        }
        switch column.type {
        case .objectID: return OwnedValue(.objectID(KeyGenerator.objectID()))
        case .uuid: return OwnedValue(.uuid(KeyGenerator.uuid()))
        default: throw WriteError(.missingProperty, "the primary key '\(column.name)' is missing")
        }
    }

    /// The member for a property.
    func member(named name: String, of body: InputObject) -> InputValue? { body[naming.member(name)] }

    // MARK: - Members

    /// Writes the members of `body` into an object, and what the rule says about the others.
    func write(
        _ body: InputObject, to place: ObjectPlace, _ table: TableState, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        var given = [Bool](repeating: false, count: table.columns.count)
        for (name, value) in body.members {
            guard let position = try at(.name(name), try position(named: name, of: table, options)) else { continue }
            given[position] = true
            try at(.name(name), try write(value, toMember: table.columns[position], of: place, table, rule, options))
        }
        switch rule {
        case .create: try requireComplete(table) { given[$0] }
        case .replace:
            try requireComplete(table) { given[$0] }
            try clearAbsent(table, given, place)
        case .update, .updateModified, .merge: break
        }
    }

    /// The position of the property that a member means; nil for one that is ignored.
    private func position(
        named name: String, of table: TableState, _ options: Options, guess: Int = 0
    ) throws(WriteError) -> Int? {
        let isPlain = !naming.isEscaped(name)
        if isPlain, let position = table.columnPosition(named: name, guess: guess) { return position }
        if naming.ignores(name) { return nil }
        let property = naming.property(name)
        if naming.isEscapedProperty(name), let position = table.columnPosition(named: property, guess: guess) { return position }
        if backlinkNames.byClass[table.className]?[name] != nil {
            throw WriteError(.readOnlyProperty, "'\(name)' are the objects that link here; they cannot be written")
        }
        if options.ignoresUnknownMembers, isPlain { return nil }
        throw WriteSession.unknown(property, table)
    }

    private func write(
        _ value: InputValue, toMember column: Column, of place: ObjectPlace, _ table: TableState, _ rule: WriteRule,
        _ options: Options
    ) throws(WriteError) {
        guard column.leafIndex == table.primaryKey?.leafIndex else {
            return try write(value, to: column, of: place, rule, options)
        }
        if case .create = rule { return }
        guard try isPrimaryKey(value, column, of: place) else {
            throw WriteError(.primaryKeyImmutable, "the primary key of an object never changes")
        }
    }

    /// Whether `input` is the primary key that the object has.
    private func isPrimaryKey(_ input: InputValue, _ column: Column, of place: ObjectPlace) throws(WriteError) -> Bool {
        let given = try ValueReader.read(input, as: column.type, isNullable: column.isNullable)
        let present = try stored(try transaction.value(column, of: place.object, in: place.table))
        return given.use { $0.isIdentical(to: present) }
    }

    /// Throws unless all properties are there that cannot be null.
    private func requireComplete(_ table: TableState, _ isGiven: (Int) -> Bool) throws(WriteError) {
        for (position, column) in table.columns.enumerated()
        where !isGiven(position) && column.collection == nil && !column.isNullable {
            guard column.leafIndex != table.primaryKey?.leafIndex else { continue }
            throw WriteError(.missingProperty, "the property '\(column.name)' is missing and cannot be null")
        }
    }

    /// Makes all properties null or empty that the body does not have.
    private func clearAbsent(_ table: TableState, _ given: [Bool], _ place: ObjectPlace) throws(WriteError) {
        for (position, column) in table.columns.enumerated()
        where !given[position] && column.leafIndex != table.primaryKey?.leafIndex {
            if column.collection == nil {
                try put(.null, in: .property(place, column))
            } else {
                try stored(try changing.clear(CollectionPlace(place.table, place.object, column)))
            }
        }
    }
}
