// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Carries out migrations: steps that change the schema, and steps that change data in between.
extension WriteSession {
    /// The schemas before and after a migration, from which the response is made.
    package struct Migrated: Sendable {
        /// The schema of the file before the first step.
        package let before: RealmSchema
        /// The schema of the file after the last step, not committed yet.
        package let after: RealmSchema
    }

    /// Carries out a migration in this write.
    ///
    /// Its limit on the bytes that may be copied is raised to the size limit of the file, because some
    /// steps change all objects.
    ///
    /// Old values (`$old`) are those at the beginning of the migration, also when another migration was
    /// carried out before it in the same write.
    ///
    /// - Parameters:
    ///   - migration: The steps with the versions that they lead from and to.
    ///   - part: Which part of the work of this write the migration is, for its progress; nil for all.
    /// - Returns: The schemas before and after.
    /// - Throws: `WriteError`: `schemaVersionConflict` when the file has another schema version than
    ///   `fromVersion`, `invalidSchema` and `wouldLoseData` from the steps. Errors have the path of the
    ///   step, as in `/steps/2/renameClass/to`. The caller rolls the write back.
    package func migrate(_ migration: Migration, part: (done: Int, of: Int)? = nil) throws(WriteError) -> Migrated {
        try requireMigration(thatChangesObjects: migration.steps.contains(where: \.changesObjects))
        let before = try schema()
        guard before.version == migration.fromVersion || before.version == nil && migration.fromVersion == 0 else {
            throw WriteError(
                .schemaVersionConflict, "the realm has " + (before.version.map { "schema version \($0)" } ?? "no schema version"),
                path: InputPath([.name("fromVersion")]))
        }
        guard migration.toVersion >= migration.fromVersion ?? 0, migration.toVersion != .max else {
            throw WriteError(
                .invalidSchema, "a schema version never goes down", path: InputPath([.name("toVersion")]))
        }
        guard migration.steps.reduce(0, { $0 + $1.stepCount }) <= Migration.maximumStepCount else {
            throw WriteError(
                .invalidSchema, "a migration has at most \(Migration.maximumStepCount) steps", path: InputPath([.name("steps")]))
        }
        naming = migration.naming
        migrationWork = WriteSession.MigrationWork()
        migrationWork.past = try pastState()
        for (index, step) in migration.steps.enumerated() {
            let part = part ?? (done: 0, of: migration.steps.count)
            try beginStep(part.done + index, of: part.of)
            try at(
                .name("steps"),
                try at(.index(index), try at(.name(step.name), try apply(step, losing: migration.allowsDataLoss))))
        }
        if before.version != migration.toVersion { try stored(try changing.setSchemaVersion(migration.toVersion)) }
        return Migrated(before: before, after: try schema())
    }

    /// Returns the present state as a snapshot that later changes leave as it is.
    private func pastState() throws(WriteError) -> Snapshot {
        let view = try view()
        // Nodes that are older than a savepoint are copied before they change.
        if transaction.hasChanges { _ = transaction.savepoint() }
        return view
    }

    /// Records that a step begins, and reports the progress of the migration.
    ///
    /// - Parameters:
    ///   - index: The index of the step, from 0.
    private func beginStep(_ index: Int, of count: Int) throws(WriteError) {
        stepProgress = StepProgress(step: index, of: count)
        try noteProgress(0, of: 1)
    }

    /// Reports which part of the present migration step is done.
    ///
    /// - Parameters:
    ///   - done: The number of objects that the step has processed.
    ///   - total: The number of objects that the step processes.
    /// - Throws: `WriteError` when the deadline of the write has passed or the migration was cancelled.
    func noteProgress(_ done: Int, of total: Int) throws(WriteError) {
        try checkDeadline()
        guard let control, let stepProgress else { return }
        control.proceed(to: stepProgress.whole(Double(done) / Double(max(1, total))))
    }

    /// Carries out one step. Paths of errors begin inside the step.
    ///
    /// - Parameters:
    ///   - losing: Whether data may be lost.
    private func apply(_ step: MigrationStep, losing: Bool) throws(WriteError) {
        switch step {
        case .addClass(let input): try addClass(input)
        case .removeClass(let name): try removeClass(name, losing)
        case .renameClass(let name, let new): try renameClass(name, to: new)
        case .addProperty(let className, let input, let value): try addProperty(className, input, value)
        case .removeProperty(let className, let name): try removeProperty(className, name, losing)
        case .renameProperty(let className, let name, let new): try renameProperty(className, name, to: new)
        case .changeProperty(let change): try changeProperty(change, losing)
        case .setPrimaryKey(let className, let name): try setPrimaryKey(className, name)
        case .setIndex(let className, let name, let indexed): try setIndex(className, name, indexed)
        case .setType(let className, let type): try setType(className, type, losing)
        case .set(let match, let values): try set(match, values)
        case .create(let className, let body, let name, let upsert): try create(className, body, as: name, upsert)
        case .delete(let match): try delete(match, losing)
        case .forEach(let loop): try forEach(loop, losing)
        }
    }

    /// Makes the error for a step that does not fit the schema.
    ///
    /// - Parameters:
    ///   - detail: The reason, as a sentence for the client.
    ///   - member: The name of the step's member that is wrong.
    static func invalid(_ detail: String, _ member: String) -> WriteError {
        WriteError(.invalidSchema, detail, path: InputPath([.name(member)]))
    }

    /// Checks whether a step may lose the data that it would lose.
    ///
    /// - Parameters:
    ///   - counts: The amounts that would be lost, under names such as `objects`, `values` and `nulls`; the client receives them.
    ///   - isAllowed: Whether the migration allows the loss of data.
    /// - Throws: `WriteError` with the code `wouldLoseData` when a count is not 0 and the loss is not
    ///   allowed.
    func requireLoss(of counts: [(name: String, count: Int)], _ isAllowed: Bool) throws(WriteError) {
        guard !isAllowed, counts.contains(where: { $0.count > 0 }) else { return }
        var error = WriteError(.wouldLoseData, "this step loses data")
        error.counts = counts
        throw error
    }

    /// Returns the table of a class that a step names.
    ///
    /// - Parameters:
    ///   - member: The member of the step that has the name, for the path of the error.
    /// - Throws: `WriteError` with the code `invalidSchema` when there is no such class.
    func migrating(_ className: String, member: String = "class") throws(WriteError) -> TableState {
        guard let table = try classTable(named: className) else {
            var error = WriteSession.invalid("there is no class '\(className.truncated)'", member)
            // A migration reads everything in the classes that are shown.
            error.unknownName = (
                name: className, known: transaction.base.classes.filter { isShown($0.key) }.compactMap(\.className)
            )
            throw error
        }
        try requireOwn(table.key, member)
        return table
    }

    /// Returns the column of a property that a step names.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` and the path `name` when the class has no
    ///   such property.
    func property(_ name: String, of table: TableState) throws(WriteError) -> Column {
        guard let column = table.column(named: name) else {
            var error = WriteSession.invalid("class '\(table.className)' has no property '\(name.truncated)'", "name")
            error.unknownName = (name: name, known: table.columns.map(\.name))
            throw error
        }
        return column
    }

    // MARK: - Classes

    /// Adds a class. Its links may lead to existing classes and to the class itself.
    private func addClass(_ input: ClassInput) throws(WriteError) {
        try requireAllClasses("name")
        let present = try schema()
        guard present[input.name] == nil else { throw WriteSession.invalid("a class of this name exists already", "name") }
        try SchemaValidator.requireNoEmbeddedIndex(input)
        try add([try SchemaValidator.oneClass(input, known: present.classes)])
    }

    /// Removes a class with its objects; throws when a property of another class still links to it.
    private func removeClass(_ name: String, _ losing: Bool) throws(WriteError) {
        try requireAllClasses("name")
        let table = try migrating(name, member: "name")
        for other in try schema().classes where other.name != name {
            guard let property = other.properties.first(where: { $0.objectType == name }) else { continue }
            throw WriteSession.invalid("'\(other.name).\(property.name)' has links to this class", "name")
        }
        let count = try stored(try transaction.count(in: table.key))
        try requireLoss(of: [(name: "objects", count: count)], losing)
        try stored(try changing.removeTable(table.key))
    }

    /// Gives a class another name; throws when the name is invalid or already used.
    private func renameClass(_ name: String, to new: String) throws(WriteError) {
        try requireAllClasses("name")
        let table = try migrating(name, member: "name")
        do throws(WriteError) {
            try SchemaValidator.checkName(new, SchemaValidator.maximumClassNameByteCount, "class")
        } catch {
            throw WriteSession.invalid(error.detail, "to")
        }
        if new != name, try stored(try transaction.table(named: Table.classPrefix + new)) != nil {
            throw WriteSession.invalid("a class of this name exists already", "to")
        }
        try stored(try changing.renameTable(table.key, to: Table.classPrefix + new))
    }

    /// Changes a class from top-level to embedded or back, and checks the resulting schema.
    private func setType(_ className: String, _ type: String, _ losing: Bool) throws(WriteError) {
        try requireAllClasses("class")
        let table = try migrating(className)
        let kind = try SchemaValidator.kind(named: type)
        guard kind != table.kind else { return }
        if kind == .embedded { try prepareEmbedding(table, losing) }
        try stored(try changing.setKind(kind, of: table.key))
        try requireValidSchema()
    }

    /// Checks that each object of a class has exactly one owner, as embedded objects must.
    ///
    /// The owner has to hold the object through a link property, not through a mixed value. Objects
    /// without an owner are deleted if the loss of data is allowed; objects with several owners are
    /// always an error, because no rule says which owner keeps them.
    ///
    /// - Parameters:
    ///   - table: The class that becomes embedded.
    ///   - losing: Whether objects without an owner may be deleted.
    private func prepareEmbedding(_ table: TableState, _ losing: Bool) throws(WriteError) {
        guard table.primaryKey == nil else { throw WriteSession.invalid("an embedded class has no primary key", "type") }
        if let indexed = table.columns.first(where: { $0.declaredIndex != nil }) {
            throw WriteSession.invalid("\(SchemaValidator.embeddedIndex), and '\(indexed.name)' has one", "type")
        }
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

    /// Counts the links and the mixed values that lead to an object.
    ///
    /// - Parameters:
    ///   - leaf: The leaf that contains the object.
    ///   - view: The uncommitted state that is read.
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

    /// Checks the schema as a whole after a step: link targets, cycles of embedded classes and sets of embedded objects.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema`, without a path.
    func requireValidSchema() throws(WriteError) {
        // Files may have indexes that the rules for new classes refuse; they are not checked here.
        let classes = try schema().classes.map { one in
            ClassSchema(
                name: one.name, kind: one.kind, primaryKey: one.primaryKey,
                properties: one.properties.filter { !$0.leadsOut }.map { $0.indexed(nil) },
                backlinks: [])
        }
        let input = SchemaInput(classes: classes.map { ClassInput($0) })
        do throws(WriteError) {
            _ = try SchemaValidator.classes(input)
        } catch {
            throw WriteError(.invalidSchema, error.detail)
        }
    }
}

extension ClassInput {
    /// Makes the input that describes an existing class.
    init(_ schema: ClassSchema) {
        self.init(
            schema.name, type: schema.kind == .embedded ? "embedded" : nil, primaryKey: schema.primaryKey,
            schema.properties.map { PropertyInput($0) })
    }
}

extension PropertyInput {
    /// Makes the input that describes an existing property.
    init(_ schema: PropertySchema) {
        self.init(
            schema.name, schema.type.rawValue, collection: schema.collection?.name, optional: schema.isOptional,
            indexed: schema.index.map { $0 == .general ? "general" : "fulltext" }, objectType: schema.objectType)
    }
}

/// The rights of a write on the schema of a realm that shows a part of its classes.
extension WriteSession {
    /// Checks that the realm shows all classes of its file.
    ///
    /// A realm that shows some of them can add, remove and rename none, so nothing can be learned about the names and
    /// links of the others.
    ///
    /// - Parameter member: The member of the input that names the class, for the path of the error; nil for none.
    /// - Throws: `WriteError` with the code `invalidSchema`.
    func requireAllClasses(_ member: String? = nil) throws(WriteError) {
        guard part != nil else { return }
        throw WriteError(
            .invalidSchema,
            "this realm shows the classes that it was attached with; none can be added, removed, renamed or made embedded",
            path: InputPath(member.map { [.name($0)] } ?? []))
    }

    /// Checks that all objects of a class are shown, so that its properties may change.
    ///
    /// - Parameters:
    ///   - member: The member of the input that names the class, for the path of the error; nil for none.
    /// - Throws: `WriteError` with the code `invalidSchema` for an embedded class that has objects in others, which the
    ///   realm does not show.
    func requireOwn(_ table: TableKey, _ member: String? = nil) throws(WriteError) {
        guard let part, part.shared.contains(table) else { return }
        throw WriteError(
            .invalidSchema, "objects of this embedded class are also in classes that this realm does not show",
            path: InputPath(member.map { [.name($0)] } ?? []))
    }
}
