// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads the document of a migration, and the steps given when a realm is attached.
///
/// Its form is checked here (`invalid_body`); whether the steps fit the schema is checked by the engine when they are applied.
package struct MigrationReader {
    /// The bounds of the server, for queries and their arguments.
    private let limits: Limits
    /// Reads the parts that schema documents have too. It holds the place of the document.
    private let reader: SchemaReader

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: The bounds of the server.
    ///   - place: The place of the document in the request body.
    package init(_ limits: Limits, _ place: InputPlace = InputPlace()) {
        self.limits = limits
        reader = SchemaReader(place: place)
    }

    /// Reads a whole migration: `{"fromVersion","toVersion","steps","allowDataLoss"}`. A `fromVersion` of null
    /// is that of a file without a schema version.
    ///
    /// - Throws: `invalid_body` with a pointer to the malformed part; the errors of queries and
    ///   values in steps.
    package func migration(_ json: JSONValue) throws(Problem) -> Migration {
        let place = reader.place
        let object = try reader.members(json, ["fromVersion", "toVersion", "steps", "allowDataLoss"], place)
        let from = try reader.version(object["fromVersion"], place.inside("fromVersion"))
        guard object["fromVersion"] != nil, let to = try reader.version(object["toVersion"], place.inside("toVersion"))
        else { throw reader.malformed("a migration has 'fromVersion' and 'toVersion'", place) }
        return Migration(
            from: from, to: to, try steps(object["steps"], place.inside("steps")),
            allowsDataLoss: try reader.flag(object, "allowDataLoss", place) ?? false, naming: .documents)
    }

    /// Reads the migrations of a request that attaches a realm: the steps of one migration, or several
    /// migrations, each with its versions.
    ///
    /// - Parameters:
    ///   - json: The value of the member `migrations`.
    ///   - place: The place of the value in the body.
    /// - Throws: `invalid_body` with a pointer to the malformed part, and for migrations that begin at the
    ///   same version or do not lead to a higher one.
    package func migrations(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> AttachMigrations {
        guard let list = json.array, let first = list.first?.object, first["steps"] != nil || first["toVersion"] != nil else {
            return .steps(try steps(json, place))
        }
        var migrations: [Migration] = []
        var beginnings: Set<UInt64> = []
        for (index, one) in list.enumerated() {
            let inner = place.inside(index)
            let migration = try MigrationReader(limits, inner).migration(one)
            guard migration.toVersion > migration.fromVersion ?? 0 else {
                throw reader.malformed("'toVersion' must be higher than 'fromVersion'", inner.inside("toVersion"))
            }
            guard beginnings.insert(migration.fromVersion ?? 0).inserted else {
                throw reader.malformed("another migration begins at the same version", inner.inside("fromVersion"))
            }
            migrations.append(migration)
        }
        return .chain(MigrationChain(migrations))
    }

    /// Reads the steps of a migration, each an object with one member that is named after its action.
    ///
    /// - Parameters:
    ///   - json: The array of steps; nil, an absent member, is an error.
    ///   - place: The place of the array in the body.
    /// - Throws: `invalid_body` for a missing array, an unknown step, or an unknown or malformed member.
    func steps(_ json: JSONValue?, _ place: InputPlace) throws(Problem) -> [MigrationStep] {
        guard let list = json?.array else { throw reader.malformed("'steps' must be an array", place) }
        var steps: [MigrationStep] = []
        for (index, one) in list.enumerated() {
            let inner = place.inside(index)
            guard let (verb, value) = one.object?.single else {
                throw reader.malformed(MigrationReader.oneMember, inner)
            }
            steps.append(try step(verb, value, inner.inside(verb)))
        }
        return steps
    }

    /// The members of each step, by the name of the step. `addClass` has those of a class instead.
    private static let names: [ByteText: [String]] = [
        "removeClass": ["name"], "renameClass": ["name", "to"], "addProperty": ["class", "property", "value"],
        "removeProperty": ["class", "name"], "renameProperty": ["class", "name", "to"],
        "changeProperty": ["class", "name", "optional", "type", "conversion", "nullValue", "onFailure", "rounding"],
        "setPrimaryKey": ["class", "name"], "setIndex": ["class", "name", "indexed"], "setType": ["class", "type"],
        "set": ["class", "where", "args", "values"], "create": ["class", "body", "as", "upsert"],
        "delete": ["class", "where", "args"],
    ]

    /// Reads one step, whose members begin either with the name of a class (`name`) or with the
    /// class that it is about (`class`).
    private func step(_ verb: String, _ json: JSONValue, _ place: InputPlace) throws(Problem) -> MigrationStep {
        if verb == "addClass" { return .addClass(try reader.classInput(json, place)) }
        if verb == "forEach" { return .forEach(try loop(json, place, isInner: false)) }
        guard let names = MigrationReader.names[verb] else { throw reader.malformed("there is no step '\(verb)'", place) }
        let object = try reader.members(json, names, place)
        if names[0] == "name" {
            let name = try reader.required(object, "name", place)
            return verb == "removeClass"
                ? .removeClass(name: name) : .renameClass(name: name, to: try reader.required(object, "to", place))
        }
        let className = try reader.required(object, "class", place)
        switch verb {
        case "set":
            return .set(try match(className, object, place), values: try values(object, "values", place))
        case "create":
            return .create(
                className: className, body: try values(object, "body", place), as: try reader.text(object, "as", place),
                upsert: try policy(object, place))
        case "delete": return .delete(try match(className, object, place))
        case "setType": return .setType(className: className, type: try reader.required(object, "type", place))
        case "setPrimaryKey":
            guard object["name"] != nil else { throw reader.malformed("'name' is missing; null removes the primary key", place) }
            return .setPrimaryKey(className: className, name: try reader.text(object, "name", place))
        default: return try propertyStep(verb, className: className, object, at: place)
        }
    }

    /// Reads `upsert`: which values a `create` step writes to an object that exists; nil when it is absent.
    private func policy(_ object: JSONObject, _ place: InputPlace) throws(Problem) -> WriteSession.UpsertPolicy? {
        guard let text = try reader.choice(object, "upsert", among: ["modified", "all"], at: place) else { return nil }
        return text == "all" ? .all : .modified
    }

    /// Reads a step that is about one property of a class.
    private func propertyStep(
        _ verb: String, className: String, _ object: JSONObject, at place: InputPlace
    ) throws(Problem) -> MigrationStep {
        if verb == "addProperty" {
            guard let property = object["property"] else { throw reader.malformed("'property' is missing", place) }
            return .addProperty(
                className: className, try reader.property(property, place.inside("property")),
                value: try value(object, "value", place))
        }
        let name = try reader.required(object, "name", place)
        switch verb {
        case "removeProperty": return .removeProperty(className: className, name: name)
        case "renameProperty":
            return .renameProperty(className: className, name: name, to: try reader.required(object, "to", place))
        case "setIndex":
            guard object["indexed"] != nil else { throw reader.malformed("'indexed' is missing; null removes the index", place) }
            return .setIndex(className: className, name: name, indexed: try reader.text(object, "indexed", place))
        default:
            var change = PropertyChange(className, name)
            change.optional = try reader.flag(object, "optional", place)
            change.type = try reader.text(object, "type", place)
            change.conversion = try reader.text(object, "conversion", place)
            change.nullValue = try value(object, "nullValue", place)
            let failures = PropertyChange.Failure.allCases.map(\.rawValue)
            let onFailure = try reader.choice(object, "onFailure", among: failures, at: place)
            change.onFailure = onFailure.flatMap { PropertyChange.Failure(rawValue: $0) }
            let roundings = PropertyChange.Rounding.allCases.map(\.rawValue)
            let rounding = try reader.choice(object, "rounding", among: roundings, at: place)
            change.rounding = rounding.flatMap { PropertyChange.Rounding(rawValue: $0) }
            return .changeProperty(change)
        }
    }

    // MARK: - Loops

    /// Reads the value of a `forEach` step: its rows, the names, and the steps of an iteration.
    ///
    /// - Parameters:
    ///   - json: The value of the member `forEach`.
    ///   - place: The place of the value in the body.
    ///   - isInner: Whether the loop is inside another one, so that it iterates over a collection and not over a class.
    private func loop(_ json: JSONValue, _ place: InputPlace, isInner: Bool) throws(Problem) -> MigrationLoop {
        let names = isInner ? ["in", "as", "keyAs", "steps"] : ["class", "where", "args", "as", "keyAs", "steps"]
        let object = try reader.members(json, names, place)
        let source: MigrationLoop.Source
        if isInner {
            source = .elements(path: try reader.required(object, "in", place))
        } else {
            let className = try reader.required(object, "class", place)
            let selects = object["where"] != nil || object["args"] != nil
            source = .objects(selects ? try match(className, object, place) : MigrationMatch(className))
        }
        let variable = try reader.required(object, "as", place)
        let keyVariable = try reader.text(object, "keyAs", place)
        let inner = place.inside("steps")
        guard let list = object["steps"]?.array else { throw reader.malformed("'steps' must be an array", inner) }
        var steps: [LoopStep] = []
        for (index, one) in list.enumerated() {
            guard let (verb, value) = one.object?.single else {
                throw reader.malformed(MigrationReader.oneMember, inner.inside(index))
            }
            steps.append(try loopStep(verb, value, inner.inside(index).inside(verb)))
        }
        return MigrationLoop(source, as: variable, keyAs: keyVariable, steps)
    }

    private func loopStep(_ verb: String, _ json: JSONValue, _ place: InputPlace) throws(Problem) -> LoopStep {
        switch verb {
        case "create":
            let object = try reader.members(json, ["class", "body", "as", "upsert"], place)
            return .create(
                className: try reader.required(object, "class", place), body: try values(object, "body", place),
                as: try reader.text(object, "as", place), upsert: try policy(object, place))
        case "set":
            let object = try reader.members(json, ["object", "values"], place)
            return .set(object: try reader.required(object, "object", place), values: try values(object, "values", place))
        case "delete":
            return .delete(object: try reader.required(try reader.members(json, ["object"], place), "object", place))
        case "forEach": return .forEach(try loop(json, place, isInner: true))
        default: throw reader.malformed("inside 'forEach' there are the steps create, set, delete and forEach", place)
        }
    }

    /// The rule for a step.
    private static let oneMember = "a step is an object with one member, which is named after what it does"

    // MARK: - Values

    /// Reads a member that is a value of a property; nil when it is absent.
    ///
    /// - Throws: The problem of a wrapper that cannot be read, with a pointer to it.
    private func value(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> InputValue? {
        guard let json = object[name] else { return nil }
        let read = Result { () throws(InputReader.InputError) in try InputReader().value(json) }
        return try read.value(at: place.inside(name))
    }

    /// Reads a member that has values for several properties, which may be computed from old values.
    ///
    /// - Parameters:
    ///   - object: The step.
    ///   - name: The name of the member, for example `values`.
    ///   - place: The place of the step in the body.
    private func values(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> InputObject {
        guard let json = object[name] else { throw reader.malformed("'\(name)' is missing", place) }
        let read = Result { () throws(InputReader.InputError) in try InputReader(takesExpressions: true).object(json) }
        return try read.value(at: place.inside(name))
    }

    /// Reads which objects of a class a step is about. The arguments are decoded when the step is
    /// applied, against the schema of that moment.
    ///
    /// - Throws: `missing_where` without `where`; `invalid_query` or `invalid_parameter` with a
    ///   pointer.
    private func match(_ className: String, _ object: JSONObject, _ place: InputPlace) throws(Problem) -> MigrationMatch {
        guard let text = try reader.text(object, "where", place) else {
            throw place.describe(Problem(.missingWhere, "'where' must select the objects; TRUEPREDICATE selects all"))
        }
        do throws(Problem) {
            let args = try SelectionParameters.args(object["args"], limits)
            return MigrationMatch(className, try SelectionParameters.query(text, limits)) { snapshot in
                try ArgumentDecoder(snapshot).decode(args)
            }
        } catch {
            throw place.inside(error.code == .invalidParameter ? "args" : "where").describe(error)
        }
    }
}

/// The member `migrations` of a request that attaches a realm.
package enum AttachMigrations: Sendable {
    /// The steps of one migration, from any older version to the requested one.
    case steps([MigrationStep])
    /// Migrations from one version to a later one, of which those are carried out that the file needs.
    case chain(MigrationChain)
}
