// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage
internal import Synchronization

/// Writes to whole objects.
extension WriteSession {
    /// Which of the given values an upsert writes to an existing object.
    package enum UpsertPolicy: Sendable {
        /// The values that differ from the stored ones.
        case modified
        /// All values, which makes them count as modified.
        case all
    }

    /// Creates an object.
    ///
    /// - Parameters:
    ///   - className: The class, which must not be embedded.
    ///   - body: The members; a missing primary key is generated for object ids and UUIDs.
    ///   - name: The name under which later links of this session can refer to the object.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `duplicateKey` when an object has the primary key, and the errors of the
    ///   members.
    package func create(
        _ className: String, _ body: InputObject, as name: String? = nil, options: Options = Options()
    ) throws(WriteError) -> Written {
        let place = try make(in: try objectTable(className), body, options: options)
        if let name { named[name] = place }
        return Written(place: place, isCreated: true)
    }

    /// Returns whether the objects of a class have a primary key to find them by.
    ///
    /// - Throws: `WriteError` for a class that does not exist or is embedded.
    package func hasPrimaryKey(_ className: String) throws(WriteError) -> Bool {
        try objectTable(className).primaryKey != nil
    }

    /// Creates an object, or writes the given members to the object with its primary key.
    ///
    /// - Parameters:
    ///   - className: The class, which must have a primary key.
    ///   - body: The members.
    ///   - policy: Which values are written to an existing object.
    ///   - name: The name under which later links of this session can refer to the object.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `noPrimaryKey`, and the errors of the members.
    package func upsert(
        _ className: String, _ body: InputObject, _ policy: UpsertPolicy, as name: String? = nil,
        options: Options = Options()
    ) throws(WriteError) -> Written {
        let table = try objectTable(className)
        guard let column = table.primaryKey else {
            throw WriteError(.noPrimaryKey, "class '\(className)' has no primary key to find objects by")
        }
        var existing: ObjectPlace?
        if knownPrimaryKey(of: table) != nil, let input = member(named: column.name, of: body) {
            let key = try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            existing = try find(key, in: table)
        }
        if let existing {
            try requireKnown(existing, table)
            try authorize(.update, existing, table)
            // Whether a value is the present one is for those who may read it.
            let isCompared = policy == .modified ? try mayLink(to: existing) : false
            try write(body, to: existing, table, isCompared ? .updateModified : .update, options)
        }
        let place = if let existing { existing } else { try make(in: table, body, options: options) }
        if let name { named[name] = place }
        return Written(place: place, isCreated: existing == nil)
    }

    /// Creates the object with a key, or replaces all properties of the existing one.
    ///
    /// - Parameters:
    ///   - key: The key, looked up with `resolve`.
    ///   - body: The members. A primary key among them must be the same as in `key`.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `objectNotFound` for a key that no new object can get, `keyMismatch`, and
    ///   the errors of the members.
    package func put(
        _ key: WriteSession.ResolvedKey, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        let table = try table(key.table)
        guard table.kind != .embedded else { throw WriteError.embeddedClass(table.className) }
        if let existing = key.place {
            try authorize(.update, existing, table)
            try requireSameKey(body, existing, table)
            try write(body, to: existing, table, .replace, options)
            return Written(place: existing, isCreated: false)
        }
        guard let column = knownPrimaryKey(of: table), let value = try primaryKey(key.name, column) else {
            throw noObject(key.name, in: table)
        }
        if let input = member(named: column.name, of: body) {
            let given = try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
            guard given.value.isIdentical(to: value.value) else { throw WriteSession.keyMismatch(column) }
        }
        return Written(place: try make(in: table, body, primaryKey: value, options: options), isCreated: true)
    }

    /// Returns the primary key that a new object gets from its address; nil for an address that is no primary key.
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

    /// Throws `keyMismatch` when the primary key in a body differs from that of the addressed object.
    private func requireSameKey(_ body: InputObject, _ place: ObjectPlace, _ table: TableState) throws(WriteError) {
        guard let column = knownPrimaryKey(of: table), let input = member(named: column.name, of: body) else { return }
        guard try isPrimaryKey(input, column, of: place) else { throw WriteSession.keyMismatch(column) }
    }

    /// Makes the error for a body whose primary key differs from the address.
    private static func keyMismatch(_ column: Column) -> WriteError {
        WriteError(
            .keyMismatch, "the primary key in the object differs from the one in its address",
            path: InputPath([.name(column.name)]))
    }

    /// Writes the given members to an object, merging embedded objects and dictionaries: a JSON merge patch.
    ///
    /// - Parameters:
    ///   - place: The object, which must not be embedded.
    ///   - body: The members that change.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError` with a path that begins at a member of `body`.
    package func patch(
        _ place: ObjectPlace, _ body: InputObject, options: Options = Options()
    ) throws(WriteError) -> Written {
        let table = try objectTable(of: place)
        try authorize(.update, place, table)
        try write(body, to: place, table, .merge, options)
        return Written(place: place, isCreated: false)
    }

    /// Returns a property of an object's class; throws `notFound` when the class has none with this name.
    package func property(_ name: String, of place: ObjectPlace) throws(WriteError) -> Column {
        let table = try table(place.table)
        return try aside { () throws(WriteError) -> Column in
            // The write may have done something else with another object before.
            if let restriction { restriction.action = restriction.isOwn(place) ? .create : .update }
            guard let column = knownColumn(name, of: table) else {
                var error = unknown(name, table)
                error.code = .notFound
                throw error
            }
            return column
        }
    }

    /// Writes one property of an object, replacing its value or its whole collection.
    ///
    /// - Parameters:
    ///   - property: The column, as `property(_:of:)` returns it.
    ///   - place: The object, which must not be embedded.
    ///   - options: How inputs are accepted.
    package func setProperty(
        _ property: Column, of place: ObjectPlace, to value: InputValue, options: Options = Options()
    ) throws(WriteError) {
        let table = try objectTable(of: place)
        try authorize(.update, place, table)
        try requireWritable(property, of: table)
        try write(value, toMember: property, of: place, table, .update, options)
    }

    /// Returns whether a property has the value that an input describes.
    ///
    /// - Throws: `WriteError` when the input does not fit the property.
    package func holds(_ value: InputValue, _ property: Column, of place: ObjectPlace) throws(WriteError) -> Bool {
        try isEqual(value, to: property, of: place, Options())
    }

    /// Deletes an object together with the embedded objects it owns. Links to it become null or disappear from collections.
    package func delete(_ place: ObjectPlace) throws(WriteError) {
        try authorize(.delete, place, try objectTable(of: place))
        try stored(try changing.deleteObject(place.object, in: place.table))
    }

    // MARK: - Making

    /// Creates an object from the members of a body.
    ///
    /// - Parameters:
    ///   - body: The members.
    ///   - primaryKey: The primary key; nil takes it from the body or generates one.
    ///   - options: How inputs are accepted.
    /// - Throws: `WriteError`: `duplicateKey`, `missingProperty` for a required property without a
    ///   member, and the errors of the members.
    func make(
        in table: TableState, _ body: InputObject, primaryKey: OwnedValue? = nil, options: Options
    ) throws(WriteError) -> ObjectPlace {
        try authorizeMaking(in: table)
        var key = primaryKey
        if let column = table.primaryKey {
            let value = if let primaryKey { primaryKey } else { try newPrimaryKey(column, body, of: table, options) }
            // A key from an address was looked up before, but not among the objects of which the sender does not know.
            if primaryKey == nil || restriction != nil, try find(value, in: table) != nil {
                throw WriteSession.duplicate(table, column, value)
            }
            key = value
        }
        let body = completed(try permitted(body, of: table, at: nil, options), table)
        // Objects that are given in place of links are created meanwhile, and need drafts of their own.
        var draft = spareDraft.take() ?? ObjectDraft()
        defer { spareDraft = draft }
        let isSound = read(body, of: table, key, options, into: &draft)
        let object = try create(in: table.key, key, isSound ? draft : nil)
        let place = ObjectPlace(table: table.key, object: object)
        didMake(place, in: table)
        guard isSound else {
            try writePermitted(body, to: place, table, .create, options)
            return place
        }
        for (name, value, column) in draft.rest {
            try at(.name(name), try write(value, to: column, of: place, .create, options))
        }
        try requireComplete(table) { draft.given[$0] }
        return place
    }

    /// Makes the error for a primary key that another object has.
    static func duplicate(_ table: TableState, _ column: Column, _ key: OwnedValue? = nil) -> WriteError {
        let text = key?.use { KeyText.text($0, objectKey: .null) }
        var error = WriteError(
            .duplicateKey,
            "class '\(table.className)' already has an object with \(text.map { "the primary key '\($0.truncated)'" } ?? "this primary key")",
            path: InputPath([.name(column.name)]))
        error.key = text
        return error
    }

    /// Throws `duplicateKey` for an object that the caller cannot see: it cannot be written, and no other can have its key.
    func requireKnown(_ existing: ObjectPlace, _ table: TableState) throws(WriteError) {
        guard restriction != nil, let column = table.primaryKey, try !knows(existing, table) else { return }
        throw WriteSession.duplicate(table, column)
    }

    /// Returns a body with the defaults of its class for the members that it lacks.
    ///
    /// - Parameters:
    ///   - body: The members.
    ///   - keepsUnseen: Whether the object exists, so that properties which the sender of the write cannot write have a value.
    func completed(_ body: InputObject, _ table: TableState, keepsUnseen: Bool = false) -> InputObject {
        guard !defaults.byClass.isEmpty, let values = defaults.byClass[table.className] else { return body }
        let absent = values.filter { value in
            // A property may have been removed since the defaults were checked.
            guard let column = table.column(named: value.name), !keepsUnseen || !keeps(column, of: table) else { return false }
            // No member of a body is one of a hidden property.
            return isHidden(column, of: table) || member(named: value.name, of: body) == nil
        }
        return body.adding(absent.map { (name: naming.member($0.name), value: $0.input) })
    }

    /// Reads a body into a draft, and returns whether all members fit their properties.
    ///
    /// When one does not, the object is created without values and its members are written one after the
    /// other, which finds the first error in the order of the body.
    private func read(
        _ body: InputObject, of table: TableState, _ key: OwnedValue?, _ options: Options, into draft: inout ObjectDraft
    ) -> Bool {
        do throws(WriteError) {
            try draft.read(body, of: table, primaryKey: key) { name, guess, isDefault throws(WriteError) in
                try position(named: name, of: table, options, guess: guess, isDefault: isDefault)
            }
            return true
        } catch {
            return false
        }
    }

    /// Creates an object with the values of a draft; without a draft it has its primary key only.
    private func create(in table: TableKey, _ key: OwnedValue?, _ draft: ObjectDraft?) throws(WriteError) -> ObjectKey {
        defer { withExtendedLifetime((key, draft)) {} }
        return try stored(try changing.createObject(in: table, primaryKey: key?.value, values: draft?.values ?? []))
    }

    /// Returns the primary key of a body, or a generated one for object ids and UUIDs; throws
    /// `missingProperty` for other types, or `unknownProperty` for a member that the class does not have: it may be the misspelt key.
    func newPrimaryKey(
        _ column: Column, _ body: InputObject, of table: TableState, _ options: Options
    ) throws(WriteError) -> OwnedValue {
        if !keeps(column, of: table), let input = member(named: column.name, of: body) {
            return try at(.name(column.name), try ValueReader.read(input, as: column.type, isNullable: column.isNullable))
        }
        switch column.type {
        case .objectID: return OwnedValue(.objectID(KeyGenerator.objectID()))
        case .uuid: return OwnedValue(.uuid(KeyGenerator.uuid()))
        default:
            guard !isHidden(column, of: table) else { throw WriteSession.forbidden }
            for (name, _) in body.members { _ = try at(.name(name), try position(named: name, of: table, options)) }
            throw WriteError(.missingProperty, "the primary key '\(column.name)' is missing")
        }
    }

    /// Returns the member of a body for a property; nil when there is none.
    func member(named name: String, of body: InputObject) -> InputValue? { body[naming.member(name)] }

    // MARK: - Members

    /// Writes the members of a body to an object, and treats the other properties according to the rule.
    ///
    /// - Parameters:
    ///   - body: The members.
    ///   - rule: The treatment of present and absent members.
    ///   - options: How inputs are accepted.
    func write(
        _ body: InputObject, to place: ObjectPlace, _ table: TableState, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        var permitted = try permitted(body, of: table, at: place, options)
        if case .create = rule { permitted = completed(permitted, table) }
        try writePermitted(permitted, to: place, table, rule, options)
    }

    /// Writes members, all of which the sender of the write may write.
    private func writePermitted(
        _ body: InputObject, to place: ObjectPlace, _ table: TableState, _ rule: WriteRule, _ options: Options
    ) throws(WriteError) {
        var given = [Bool](repeating: false, count: table.columns.count)
        for (index, member) in body.members.enumerated() {
            let (name, value, isDefault) = (member.name, member.value, index >= body.givenCount)
            guard let position = try at(.name(name), try position(named: name, of: table, options, isDefault: isDefault)) else {
                continue
            }
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

    /// Returns the position of the property that a member refers to; nil for a member that is ignored.
    ///
    /// - Parameters:
    ///   - name: The name of the member, which may be escaped.
    ///   - options: Whether unknown members are ignored.
    ///   - guess: The position to try first.
    ///   - isDefault: Whether the member is a default of the class, which may be one of a hidden property.
    /// - Throws: `WriteError`: `unknownProperty`, or `readOnlyProperty` for the name of linking objects.
    func position(
        named name: String, of table: TableState, _ options: Options, guess: Int = 0, isDefault: Bool = false
    ) throws(WriteError) -> Int? {
        if let position = knownPosition(ofMember: name, of: table, guess: guess) { return position }
        if naming.ignores(name) { return nil }
        let property = naming.property(name)
        if isDefault, let position = table.columnPosition(named: property, guess: guess) { return position }
        if let path = backlinkNames.byClass[table.className]?[name], knowsBacklinks(path, of: table) {
            throw WriteError(.readOnlyProperty, "'\(name)' is made of the objects that link here and cannot be written")
        }
        if options.ignoresUnknownMembers, !naming.isEscaped(name) {
            ignored.add(name, of: table.className)
            return nil
        }
        throw unknown(property, table)
    }

    /// Writes one member; a primary key may only be given as it is.
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

    /// Returns whether `input` is the primary key that the object has.
    private func isPrimaryKey(_ input: InputValue, _ column: Column, of place: ObjectPlace) throws(WriteError) -> Bool {
        let given = try ValueReader.read(input, as: column.type, isNullable: column.isNullable)
        let present = try stored(try transaction.value(column, of: place.object, in: place.table))
        return given.use { $0.isIdentical(to: present) }
    }

    /// Throws `missingProperty` unless all required properties have a value.
    func requireComplete(_ table: TableState, _ isGiven: (Int) -> Bool) throws(WriteError) {
        for (position, column) in table.columns.enumerated()
        where !isGiven(position) && column.collection == nil && !column.isNullable {
            guard column.leafIndex != table.primaryKey?.leafIndex else { continue }
            guard !keeps(column, of: table) else {
                // An object that is replaced has a value, and a new one would be left without.
                if restriction?.action == .create { throw WriteSession.forbidden }
                continue
            }
            throw WriteError(.missingProperty, "the property '\(column.name)' is missing and cannot be null")
        }
    }

    /// Sets all properties without a member to null or empty.
    private func clearAbsent(_ table: TableState, _ given: [Bool], _ place: ObjectPlace) throws(WriteError) {
        for (position, column) in table.columns.enumerated()
        where !given[position] && column.leafIndex != table.primaryKey?.leafIndex && !keeps(column, of: table) {
            if let kind = column.collection {
                try empty(CollectionPlace(place.table, place.object, column), kind)
            } else {
                try put(.null, in: .property(place, column))
            }
        }
    }
}

/// Generates primary keys for new objects whose body has none.
enum KeyGenerator {
    /// The five random bytes that all object ids of this process contain.
    private static let processBytes = UInt64.random(in: 0..<1 << 40)
    /// The counter that makes the object ids of one second different. It starts at a random number, and
    /// its lowest 24 bits are used.
    private static let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))

    /// Returns a new object id. Ids of one process ascend, as long as the clock does.
    ///
    /// An id consists of the seconds since 1970 (4 bytes), the random bytes of the process (5 bytes) and
    /// a counter (3 bytes). All threads may call this.
    static func objectID() -> ObjectID {
        let seconds = UInt64(truncatingIfNeeded: WallClock.now().nanoseconds / 1_000_000_000) & 0xffff_ffff
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xff_ffff
        return ObjectID(
            first: seconds << 32 | processBytes >> 8, last: UInt32(truncatingIfNeeded: processBytes & 0xff) << 24 | count)
    }

    /// Returns a random UUID (version 4).
    static func uuid() -> UUIDValue {
        let first = UInt64.random(in: .min ... .max) & ~0xf000 | 0x4000
        let last = UInt64.random(in: .min ... .max) & ~(3 << 62) | 2 << 62
        return UUIDValue(first: first, last: last)
    }
}
