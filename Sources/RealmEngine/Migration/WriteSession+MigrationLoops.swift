// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Carries out the `forEach` steps of migrations.
extension WriteSession {
    /// The deletions by the loops of one step.
    private struct Deletions {
        /// The number of deleted objects.
        var count = 0
        /// The path of the first step that deleted one.
        var path = InputPath()
    }

    /// Carries out a loop over the objects of a class.
    ///
    /// - Parameters:
    ///   - losing: Whether objects may be deleted.
    /// - Throws: `WriteError`: `invalidSchema` for names and expressions that do not fit, `wouldLoseData`
    ///   with the number of objects that it would delete, and the errors of its steps with their paths.
    ///   Errors in values have the key of the object of the round.
    func forEach(_ loop: MigrationLoop, _ losing: Bool) throws(WriteError) {
        let bindings = MigrationOperand.Bindings(variables: named.mapValues { .object($0, .present) })
        let scope = MigrationScope(variables: Set(named.keys), hasSubject: false)
        let plan = try plan(loop, scope, depth: 1, InputPath())
        guard case .objects(let match) = plan.source else {
            throw WriteSession.invalid("a loop that is not inside another one needs a class", "in")
        }
        let table = try migrating(match.className)
        let objects = try matches(match, table)
        var deletions = Deletions()
        for (number, object) in objects.enumerated() {
            if number & 0xff == 0xff { try noteProgress(number, of: objects.count) }
            let place = ObjectPlace(table: table.key, object: object)
            let element = MigrationOperand.Element(key: OwnedValue(.int(Int64(number))), value: .object(place, .present))
            do throws(WriteError) {
                try round(plan, element, in: bindings, &deletions)
            } catch {
                throw try error.concerning(place, in: self)
            }
        }
        do throws(WriteError) {
            try requireLoss(of: [(name: "objects", count: deletions.count)], losing)
        } catch {
            var placed = error
            placed.path = deletions.path
            throw placed
        }
    }

    // MARK: - Plans

    /// Checks the names of a loop and parses its expressions.
    ///
    /// - Parameters:
    ///   - scope: The variables around it.
    ///   - depth: The number of loops around it, with itself.
    ///   - prefix: The path from the outermost loop to this one.
    /// - Throws: `WriteError` with the code `invalidSchema`, and the path inside the loop.
    private func plan(
        _ loop: MigrationLoop, _ scope: MigrationScope, depth: Int, _ prefix: InputPath
    ) throws(WriteError) -> LoopPlan {
        guard depth <= LoopPlan.maximumDepth else {
            throw WriteError(.invalidSchema, "at most \(LoopPlan.maximumDepth) loops are inside each other")
        }
        let source: LoopPlan.Source
        switch loop.source {
        case .objects(let match):
            guard depth == 1 else { throw WriteSession.invalid("a loop inside another one goes through a collection", "class") }
            _ = try migrating(match.className)
            source = .objects(match)
        case .elements(let path): source = .elements(try at(.name("in"), try scope.path(path)))
        }
        var inner = try at(.name("as"), try scope.adding(loop.variable))
        inner = try at(.name("keyAs"), try inner.adding(loop.keyVariable))
        var actions: [LoopPlan.Action] = []
        for (index, step) in loop.steps.enumerated() {
            let path = InputPath(prefix.steps + [.name("steps"), .index(index), .name(step.name)])
            let action = try at(
                .name("steps"),
                try at(.index(index), try at(.name(step.name), try self.action(step, &inner, depth: depth, path))))
            actions.append(action)
        }
        return LoopPlan(source: source, variable: loop.variable, keyVariable: loop.keyVariable, actions: actions)
    }

    /// Checks one step of a loop; an object that it names is a variable of the steps after it.
    private func action(
        _ step: LoopStep, _ scope: inout MigrationScope, depth: Int, _ path: InputPath
    ) throws(WriteError) -> LoopPlan.Action {
        switch step {
        case .create(let className, let body, let name, let upsert):
            let template = try creation(className, body, upsert: upsert, scope)
            scope = try at(.name("as"), try scope.adding(name))
            return .create(className: className, body: template, name: name, upsert: upsert)
        case .set(let object, let values):
            try at(.name("object"), try scope.require(object))
            return .set(object: object, values: try at(.name("values"), try ObjectTemplate(values, scope)))
        case .delete(let object):
            try at(.name("object"), try scope.require(object))
            return .delete(object: object, path)
        case .forEach(let loop): return .forEach(try plan(loop, scope, depth: depth + 1, path))
        }
    }

    // MARK: - Rounds

    /// Carries out one round of a loop, unless its object has been deleted by an earlier round.
    private func round(
        _ plan: LoopPlan, _ element: MigrationOperand.Element, in outer: MigrationOperand.Bindings, _ deletions: inout Deletions
    ) throws(WriteError) {
        try countRound()
        try spend(WriteSession.unitsPerElement)
        var bindings = outer.adding(element, as: plan.variable, keyAs: plan.keyVariable)
        if case .object(let place, _) = element.value {
            guard try isThere(place) else { return }
            named[plan.variable] = place
        }
        for (index, action) in plan.actions.enumerated() {
            try at(
                .name("steps"),
                try at(.index(index), try at(.name(action.name), try perform(action, &bindings, &deletions))))
        }
        for name in bindings.variables.keys where outer.variables[name] == nil { named[name] = nil }
    }

    /// Carries out one step of a round.
    private func perform(
        _ action: LoopPlan.Action, _ bindings: inout MigrationOperand.Bindings, _ deletions: inout Deletions
    ) throws(WriteError) {
        migrationWork.computedBytes = 0
        switch action {
        case .create(let className, let body, let name, let upsert):
            let place = try at(.name("body"), try create(className, body, as: name, upsert: upsert, bindings))
            if let name { bindings.variables[name] = .object(place, .present) }
        case .set(let name, let values):
            let place = try at(.name("object"), try object(name, bindings))
            try at(.name("values"), try write(try object(values, bindings), to: place, try table(place.table), .merge, Options()))
        case .delete(let name, let path):
            let place = try at(.name("object"), try object(name, bindings))
            guard try table(place.table).kind != .embedded else {
                throw WriteSession.invalid("objects of an embedded class are deleted with their owners", "object")
            }
            if deletions.count == 0 { deletions.path = path }
            deletions.count += 1
            try stored(try changing.deleteObject(place.object, in: place.table))
        case .forEach(let plan):
            guard case .elements(let path) = plan.source else { return }
            guard let collection = try at(.name("in"), try self.collection(path, bindings)) else { return }
            let outer = bindings
            for element in collection.elements { try round(plan, element, in: outer, &deletions) }
        }
    }

    /// Returns the object of a variable.
    ///
    /// - Throws: `WriteError`: `typeMismatch` for a variable that is no object, `invalidSchema` for an
    ///   object that has been deleted.
    private func object(_ variable: String, _ bindings: MigrationOperand.Bindings) throws(WriteError) -> ObjectPlace {
        guard case .object(let place, _)? = bindings.variables[variable] else {
            throw WriteError(.typeMismatch, "'\(variable)' is not an object")
        }
        try requireObject(place, variable)
        return place
    }

    /// Counts a round of a loop or of `$each`.
    ///
    /// - Throws: `WriteError` with the code `tooManyAffected` when the migration has made more rounds than
    ///   its limit.
    func countRound() throws(WriteError) {
        migrationWork.rounds += 1
        guard migrationWork.rounds > limits.migrationRounds else { return }
        var error = WriteError(
            .tooManyAffected, "the loops of one migration make at most \(limits.migrationRounds) rounds; divide the migration")
        error.limit = limits.migrationRounds
        error.exceeded = .migrationRounds
        throw error
    }
}

/// A `forEach` step made ready for being carried out: names are checked and expressions are parsed, once for all rounds.
struct LoopPlan {
    /// The sequence of the loop.
    let source: Source
    /// The name of the object or element in each round.
    let variable: String
    /// The name of the key or index of the element; nil for none.
    let keyVariable: String?
    /// The actions of each round, in order.
    let actions: [Action]

    /// The sequence of a loop.
    enum Source {
        /// The objects of a class that match a query.
        case objects(MigrationMatch)
        /// The elements of the collection at a key path.
        case elements(ExpressionPath)
    }

    /// One step of a round.
    enum Action {
        /// Creates an object, or writes to the one with its primary key.
        case create(className: String, body: ObjectTemplate, name: String?, upsert: WriteSession.UpsertPolicy?)
        /// Writes values to the object of a variable.
        case set(object: String, values: ObjectTemplate)
        /// Deletes the object of a variable; with the path of the step, for the error about lost data.
        case delete(object: String, InputPath)
        /// An inner loop.
        case forEach(LoopPlan)

        /// The name of the member that contains the step in JSON, for the paths of errors.
        var name: String {
            switch self {
            case .create: return "create"
            case .set: return "set"
            case .delete: return "delete"
            case .forEach: return "forEach"
            }
        }
    }

    /// The maximum number of loops inside each other.
    static let maximumDepth = 8
}

/// Carries out the steps of migrations that change data.
extension WriteSession {
    /// Writes values to the matching objects. For each object, all expressions are computed before any of its values changes.
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
                let body = try at(.name("values"), try self.object(template, MigrationOperand.Bindings(subject: place)))
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
        let bindings = MigrationOperand.Bindings(variables: named.mapValues { .object($0, .present) })
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
    ///   - bindings: The values of the names in expressions.
    /// - Throws: `WriteError` with the path inside the body.
    func create(
        _ className: String, _ body: ObjectTemplate, as name: String?, upsert: UpsertPolicy?,
        _ bindings: MigrationOperand.Bindings
    ) throws(WriteError) -> ObjectPlace {
        let input = try object(body, bindings)
        guard let upsert else { return try create(className, input, as: name).place }
        return try self.upsert(className, input, upsert, as: name).place
    }

    /// Deletes the matching objects; throws `wouldLoseData` when there are any and the loss of data is not allowed.
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
        return try queried(try bound.execute(check: { [budget] in budget.continues }))
    }
}

extension WriteError {
    /// Returns the error with the key of the object whose values it is about, if it is about values and has no key yet.
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
