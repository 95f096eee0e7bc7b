// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
internal import RealmStorage

/// Migrations: steps that change the schema, and steps that change data on the way.
extension WriteSession {
    /// The schema before and after a migration.
    package struct Migrated: Sendable {
        /// The schema that the migration found.
        package let before: RealmSchema
        /// The schema that it left.
        package let after: RealmSchema
    }

    /// Applies a migration. Errors have the path of the step: `/steps/2/renameClass/to`.
    package func migrate(_ migration: Migration) throws(WriteError) -> Migrated {
        let before = try schema()
        guard before.version ?? 0 == migration.fromVersion else {
            throw WriteError(
                .schemaVersionConflict, "the realm has schema version \(before.version ?? 0)",
                path: InputPath([.name("fromVersion")]))
        }
        guard migration.toVersion >= migration.fromVersion, migration.toVersion != .max else {
            throw WriteError(
                .invalidSchema, "a schema version never goes down", path: InputPath([.name("toVersion")]))
        }
        naming = migration.naming
        // Some steps change every object there is.
        byteLimit = max(byteLimit, Int(clamping: transaction.base.space.limit))
        for (index, step) in migration.steps.enumerated() {
            try beginStep(index, of: migration.steps.count)
            try at(
                .name("steps"),
                try at(.index(index), try at(.name(step.name), try apply(step, losing: migration.allowsDataLoss))))
        }
        if before.version != migration.toVersion { try stored(try changing.setSchemaVersion(migration.toVersion)) }
        return Migrated(before: before, after: try schema())
    }

    /// Notes that a step begins, for the progress of the migration.
    private func beginStep(_ index: Int, of count: Int) throws(WriteError) {
        stepProgress = StepProgress(step: index, of: count)
        try noteProgress(0, of: 1)
    }

    /// Reports how much of a migration's step is done. Throws when the deadline has passed or the migration was cancelled.
    func noteProgress(_ done: Int, of total: Int) throws(WriteError) {
        try checkDeadline()
        guard let control, let stepProgress else { return }
        control.proceed(to: stepProgress.whole(Double(done) / Double(max(1, total))))
    }

    /// Does one step; errors have their place inside it.
    private func apply(_ step: MigrationStep, losing: Bool) throws(WriteError) {
        switch step {
        case .addClass(let input): try addClass(input)
        case .removeClass(let name): try removeClass(name, losing)
        case .renameClass(let name, let new): try renameClass(name, to: new)
        case .addProperty(let className, let input, let value): try addProperty(className, input, value)
        case .removeProperty(let className, let name): try removeProperty(className, name, losing)
        case .renameProperty(let className, let name, let new): try renameProperty(className, name, to: new)
        case .changeProperty(let className, let name, let optional, let type, let conversion, let nullValue):
            let change = PropertyChange(
                className: className, name: name, optional: optional, type: type, conversion: conversion, nullValue: nullValue)
            try changeProperty(change, losing)
        case .setPrimaryKey(let className, let name): try setPrimaryKey(className, name)
        case .setIndex(let className, let name, let indexed): try setIndex(className, name, indexed)
        case .setType(let className, let type): try setType(className, type, losing)
        case .set(let match, let values): try set(match, values)
        case .create(let className, let body): _ = try at(.name("body"), try create(className, body))
        case .delete(let match): try delete(match, losing)
        }
    }

    /// A step that does not fit the schema; `member` is the member of the step that is wrong.
    static func invalid(_ detail: String, _ member: String) -> WriteError {
        WriteError(.invalidSchema, detail, path: InputPath([.name(member)]))
    }

    /// Throws unless losing this many objects or values is allowed.
    func requireLoss(of counts: [(name: String, count: Int)], _ isAllowed: Bool) throws(WriteError) {
        guard !isAllowed, counts.contains(where: { $0.count > 0 }) else { return }
        var error = WriteError(.wouldLoseData, "this step loses data")
        error.counts = counts
        throw error
    }

    /// A class that a step names.
    func migrating(_ className: String, member: String = "class") throws(WriteError) -> TableState {
        guard let table = try stored(try transaction.table(named: Table.classPrefix + className)) else {
            throw WriteSession.invalid("there is no class '\(className)'", member)
        }
        return table
    }

    /// A property that a step names; throws `invalidSchema` when there is none.
    func property(_ name: String, of table: TableState) throws(WriteError) -> Column {
        guard let column = table.column(named: name) else {
            throw WriteSession.invalid("class '\(table.className)' has no property '\(name)'", "name")
        }
        return column
    }

    // MARK: - Classes

    /// Makes a class. Its links may lead to classes that are there, and to itself.
    private func addClass(_ input: ClassInput) throws(WriteError) {
        let present = try schema()
        guard present[input.name] == nil else { throw WriteSession.invalid("there is already a class of this name", "name") }
        try SchemaValidator.requireNoEmbeddedIndex(input)
        try add([try SchemaValidator.oneClass(input, known: present.classes)])
    }

    /// Removes a class with its objects, unless a property still links to it.
    private func removeClass(_ name: String, _ losing: Bool) throws(WriteError) {
        let table = try migrating(name, member: "name")
        for other in try schema().classes where other.name != name {
            guard let property = other.properties.first(where: { $0.objectType == name }) else { continue }
            throw WriteSession.invalid("'\(other.name).\(property.name)' has links to this class", "name")
        }
        let count = try stored(try transaction.count(in: table.key))
        try requireLoss(of: [(name: "objects", count: count)], losing)
        try stored(try changing.removeTable(table.key))
    }

    /// Gives a class another name that is free.
    private func renameClass(_ name: String, to new: String) throws(WriteError) {
        let table = try migrating(name, member: "name")
        do throws(WriteError) {
            try SchemaValidator.checkName(new, SchemaValidator.maximumClassNameByteCount, "class")
        } catch {
            throw WriteSession.invalid(error.detail, "to")
        }
        if new != name, try stored(try transaction.table(named: Table.classPrefix + new)) != nil {
            throw WriteSession.invalid("there is already a class of this name", "to")
        }
        try stored(try changing.renameTable(table.key, to: Table.classPrefix + new))
    }

    /// Turns a class of objects into an embedded one, or back.
    private func setType(_ className: String, _ type: String, _ losing: Bool) throws(WriteError) {
        let table = try migrating(className)
        let kind = try SchemaValidator.kind(named: type)
        guard kind != table.kind else { return }
        if kind == .embedded { try prepareEmbedding(table, losing) }
        try stored(try changing.setKind(kind, of: table.key))
        try requireValidSchema()
    }

    /// Every embedded object has exactly one owner, through a link that is no Mixed.
    private func prepareEmbedding(_ table: TableState, _ losing: Bool) throws(WriteError) {
        guard table.primaryKey == nil else { throw WriteSession.invalid("an embedded class has no primary key", "type") }
        let view = try view()
        guard let readable = view.table(table.key) else { return }
        var orphans: [ObjectKey] = []
        var shared = 0
        var cursor = readable.leaves()
        while let leaf = try stored(try cursor.next()) {
            try spend(WriteSession.unitsPerElement)
            for row in 0..<leaf.count {
                let owners = try owners(of: row, in: leaf, of: readable, view)
                if owners.links == 0 { orphans.append(leaf.key(at: row)) }
                if owners.links > 1 || owners.mixed > 0 { shared += 1 }
            }
        }
        let counts = [(name: "withoutOwner", count: orphans.count), (name: "withSeveralOwners", count: shared)]
        // Objects without owner may be deleted; for those with several owners there is no rule which one keeps them.
        try requireLoss(of: counts, losing && shared == 0)
        for orphan in orphans {
            try spend(WriteSession.unitsPerElement)
            try stored(try changing.deleteObject(orphan, in: table.key))
        }
    }

    /// How many links, and how many mixed values, lead to an object.
    private func owners(
        of row: Int, in leaf: ClusterLeaf, of table: Table, _ view: Snapshot
    ) throws(WriteError) -> (links: Int, mixed: Int) {
        var links = 0
        var mixed = 0
        for column in table.backlinks {
            let count = try stored(try leaf.backlinks(column, row: row)).count
            guard count > 0, let origin = column.targetTable.flatMap({ view.table($0) }),
                let source = column.oppositeColumn.flatMap({ origin.column($0) })
            else { continue }
            if source.type == .mixed { mixed += count } else { links += count }
        }
        return (links, mixed)
    }

    /// Checks what no single step can see: targets, cycles of embedded classes, sets of embedded objects.
    func requireValidSchema() throws(WriteError) {
        // Files may have indexes that the rules for new classes refuse; they are not checked here.
        let classes = try schema().classes.map { one in
            ClassSchema(
                name: one.name, kind: one.kind, primaryKey: one.primaryKey, properties: one.properties.map { $0.indexed(nil) },
                backlinks: [])
        }
        let input = SchemaInput(classes: classes.map { ClassInput($0) })
        do throws(WriteError) {
            _ = try SchemaValidator.classes(input)
        } catch {
            throw WriteError(.invalidSchema, error.detail)
        }
    }

    // MARK: - Data

    /// Merges values into matches; expressions are computed for each object before any of its values changes.
    private func set(_ match: MigrationMatch, _ values: InputObject) throws(WriteError) {
        let table = try migrating(match.className)
        let objects = try matches(match, table)
        let expressions = try expressions(in: values)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend(WriteSession.unitsPerElement)
            let place = ObjectPlace(table: table.key, object: object)
            let body = try at(.name("values"), try computed(values, expressions, place))
            try at(.name("values"), try write(body, to: place, table, .merge, Options()))
        }
    }

    /// Deletes matches, which has to be allowed when there are any.
    private func delete(_ match: MigrationMatch, _ losing: Bool) throws(WriteError) {
        let table = try migrating(match.className)
        guard table.kind != .embedded else {
            throw WriteSession.invalid("objects of an embedded class go with their owners", "class")
        }
        let objects = try matches(match, table)
        try requireLoss(of: [(name: "objects", count: objects.count)], losing)
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            try spend(WriteSession.unitsPerElement)
            try stored(try changing.deleteObject(object, in: table.key))
        }
    }

    /// The objects that a step is about, as they are when it begins.
    private func matches(_ match: MigrationMatch, _ table: TableState) throws(WriteError) -> [ObjectKey] {
        let arguments: [QueryArgument]
        do {
            arguments = try match.arguments(try view())
        } catch {
            throw WriteError(caller: error)
        }
        let bound = try at(.name("where"), try bind(match.query, to: table.key, arguments))
        return try queried(try bound.execute(check: { [budget] in budget.goesOn }))
    }

    /// The members with expressions computed, all from the values before.
    private func computed(
        _ values: InputObject, _ expressions: [String: Expression], _ place: ObjectPlace
    ) throws(WriteError) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        for (name, value) in values.members {
            guard let expression = expressions[name] else {
                members.append((name: name, value: value))
                continue
            }
            members.append((name: name, value: try at(.name(name), try evaluate(expression, of: place))))
        }
        return InputObject(members)
    }

    /// The expressions among the values by their members, read once for all objects.
    private func expressions(in values: InputObject) throws(WriteError) -> [String: Expression] {
        var expressions: [String: Expression] = [:]
        for (name, value) in values.members {
            guard case .expression(let text) = value else { continue }
            expressions[name] = try at(.name("values"), try at(.name(name), try Expression.parse(text)))
        }
        return expressions
    }
}

extension ClassInput {
    /// What would make this class.
    init(_ schema: ClassSchema) {
        self.init(
            schema.name, type: schema.kind == .embedded ? "embedded" : nil, primaryKey: schema.primaryKey,
            schema.properties.map { PropertyInput($0) })
    }
}

extension PropertyInput {
    /// What would make this property.
    init(_ schema: PropertySchema) {
        self.init(
            schema.name, schema.type.rawValue, collection: schema.collection?.name, optional: schema.isOptional,
            indexed: schema.index.map { $0 == .general ? "general" : "fulltext" }, objectType: schema.objectType)
    }
}
