// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Carries out the steps of migrations that change data.
extension WriteSession {
    /// Writes values to the matching objects. For each object, all expressions are computed before any of
    /// its values changes.
    ///
    /// - Throws: `WriteError` with the path inside the step; errors in values have the key of the object.
    func set(_ match: MigrationMatch, _ values: InputObject) throws(WriteError) {
        let table = try migrating(match.className)
        let objects = try matches(match, table)
        let template = try at(.name("values"), try ObjectTemplate(values, MigrationScope(hasSubject: true)))
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend(WriteSession.unitsPerElement)
            migrationWork.computedBytes = 0
            let place = ObjectPlace(table: table.key, object: object)
            do throws(WriteError) {
                let body = try at(.name("values"), try self.object(template, MigrationBindings(subject: place)))
                try at(.name("values"), try write(body, to: place, table, .merge, Options()))
            } catch {
                throw try error.concerning(place, in: self)
            }
        }
    }

    /// Creates an object, or writes to the one with its primary key.
    ///
    /// - Parameters:
    ///   - body: The members; expressions may use the objects that earlier steps created under a name.
    ///   - name: The name under which later steps know the object; nil for none.
    ///   - upsert: Which values are written to an existing object; nil makes an existing one an error.
    func create(
        _ className: String, _ body: InputObject, as name: String?, _ upsert: UpsertPolicy?
    ) throws(WriteError) {
        let scope = MigrationScope(variables: Set(named.keys), hasSubject: false)
        let template = try creation(className, body, upsert: upsert, scope)
        if let name, named[name] == nil { _ = try at(.name("as"), try MigrationScope(hasSubject: false).adding(name)) }
        migrationWork.computedBytes = 0
        let bindings = MigrationBindings(variables: named.mapValues { .object($0, .present) })
        _ = try at(.name("body"), try create(className, template, as: name, upsert: upsert, bindings))
    }

    /// Checks a step that creates objects, and prepares the values.
    ///
    /// - Parameters:
    ///   - body: The members.
    ///   - upsert: Which values are written to an existing object; nil makes an existing one an error.
    ///   - scope: The names that expressions may use.
    /// - Throws: `WriteError` with the code `invalidSchema` and the path of the wrong member.
    func creation(
        _ className: String, _ body: InputObject, upsert: UpsertPolicy?, _ scope: MigrationScope
    ) throws(WriteError) -> ObjectTemplate {
        let table = try migrating(className)
        guard table.kind != .embedded else {
            throw WriteSession.invalid("objects of an embedded class are written inside their owners", "class")
        }
        guard upsert == nil || table.primaryKey != nil else {
            throw WriteSession.invalid("class '\(className)' has no primary key to find objects by", "upsert")
        }
        return try at(.name("body"), try ObjectTemplate(body, scope))
    }

    /// Creates an object with computed values, or writes them to the one with its primary key.
    ///
    /// - Parameters:
    ///   - className: The class, which `creation` has checked.
    ///   - body: The members.
    ///   - name: The name under which later links know the object; nil for none.
    ///   - upsert: Which values are written to an existing object; nil makes an existing one an error.
    ///   - bindings: What the names in expressions stand for.
    /// - Throws: `WriteError` with the path inside the body.
    func create(
        _ className: String, _ body: ObjectTemplate, as name: String?, upsert: UpsertPolicy?, _ bindings: MigrationBindings
    ) throws(WriteError) -> ObjectPlace {
        let input = try object(body, bindings)
        guard let upsert else { return try create(className, input, as: name).place }
        return try self.upsert(className, input, upsert, as: name).place
    }

    /// Deletes the matching objects; throws `wouldLoseData` when there are any and the loss of data is
    /// not allowed.
    func delete(_ match: MigrationMatch, _ losing: Bool) throws(WriteError) {
        let table = try migrating(match.className)
        guard table.kind != .embedded else {
            throw WriteSession.invalid("objects of an embedded class are deleted with their owners", "class")
        }
        let objects = try matches(match, table)
        try requireLoss(of: [(name: "objects", count: objects.count)], losing)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend(WriteSession.unitsPerElement)
            try stored(try changing.deleteObject(object, in: table.key))
        }
    }

    /// Returns the keys of the objects that a step applies to, as they are when it begins.
    ///
    /// - Parameters:
    ///   - match: The class, the query and its arguments.
    /// - Throws: `WriteError` for a query that does not fit the class, with the path `where`, for wrong
    ///   arguments, and for an expired deadline.
    func matches(_ match: MigrationMatch, _ table: TableState) throws(WriteError) -> [ObjectKey] {
        let arguments: [QueryArgument]
        do {
            arguments = try match.arguments(try view())
        } catch {
            throw WriteError(caller: error)
        }
        let bound = try at(.name("where"), try bind(match.query, to: table.key, arguments))
        return try queried(try bound.execute(check: { [budget] in budget.goesOn }))
    }
}

extension WriteError {
    /// Returns the error with the key of the object whose values it is about, if it is about values and has
    /// no key yet.
    func concerning(_ place: ObjectPlace, in session: WriteSession) throws(WriteError) -> WriteError {
        guard key == nil, WriteError.codesOfValues.contains(code) else { return self }
        var error = self
        error.key = try session.keyText(of: place)
        return error
    }

    /// The codes of errors that a value of an object causes.
    private static let codesOfValues: Set<Code> = [
        .typeMismatch, .outOfRange, .nullNotAllowed, .missingProperty, .duplicateKey, .linkTargetMissing, .nestedObject,
        .invalidDictionaryKey, .decimalNeedsString, .primaryKeyImmutable,
    ]
}
