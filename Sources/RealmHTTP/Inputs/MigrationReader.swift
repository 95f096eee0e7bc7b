// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery

/// Reads the document of a migration, and the steps given when a realm is attached.
///
/// Its form is checked here (`invalid_body`); whether the steps fit the schema is checked by the
/// engine when they are applied.
struct MigrationReader {
    /// The bounds of the server, for queries and their arguments.
    private let limits: Limits
    /// Reads the parts that schema documents have too. It holds the place of the document.
    private let reader: SchemaReader

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - limits: The bounds of the server.
    ///   - place: The place of the document in the request body.
    init(_ limits: Limits, _ place: InputPlace = InputPlace()) {
        self.limits = limits
        reader = SchemaReader(place: place)
    }

    /// Reads a whole migration: `{"fromVersion","toVersion","steps","allowDataLoss"}`. A `fromVersion` of null
    /// is that of a file without a schema version.
    ///
    /// - Throws: `invalid_body` with a pointer to the malformed part; the errors of queries and
    ///   values in steps.
    func migration(_ json: JSONValue) throws(Problem) -> Migration {
        let place = reader.place
        let object = try reader.members(json, ["fromVersion", "toVersion", "steps", "allowDataLoss"], place)
        let from = try reader.version(object["fromVersion"], place.inside("fromVersion"))
        guard object["fromVersion"] != nil, let to = try reader.version(object["toVersion"], place.inside("toVersion"))
        else { throw reader.malformed("a migration has 'fromVersion' and 'toVersion'", place) }
        return Migration(
            from: from, to: to, try steps(object["steps"], place.inside("steps")),
            allowsDataLoss: try reader.flag(object, "allowDataLoss", place) ?? false, naming: .documents)
    }

    /// Reads the steps of a migration, each an object with one member that is named after what it
    /// does.
    ///
    /// - Parameters:
    ///   - json: The array of steps; nil, an absent member, is an error.
    ///   - place: The place of the array in the body.
    /// - Throws: `invalid_body` for a missing array, an unknown step, or an unknown or malformed
    ///   member.
    func steps(_ json: JSONValue?, _ place: InputPlace) throws(Problem) -> [MigrationStep] {
        guard let list = json?.array else { throw reader.malformed("'steps' has to be an array", place) }
        var steps: [MigrationStep] = []
        for (index, one) in list.enumerated() {
            let inner = place.inside(index)
            guard let (verb, value) = one.object?.single else {
                throw reader.malformed("a step is an object with one member, which is named after what it does", inner)
            }
            steps.append(try step(verb, value, inner.inside(verb)))
        }
        return steps
    }

    /// The members of each step, by the name of the step. `addClass` has those of a class instead.
    private static let names: [String: [String]] = [
        "removeClass": ["name"], "renameClass": ["name", "to"], "addProperty": ["class", "property", "value"],
        "removeProperty": ["class", "name"], "renameProperty": ["class", "name", "to"],
        "changeProperty": ["class", "name", "optional", "type", "conversion", "nullValue", "onFailure", "rounding"],
        "setPrimaryKey": ["class", "name"], "setIndex": ["class", "name", "indexed"], "setType": ["class", "type"],
        "set": ["class", "where", "args", "values"], "create": ["class", "body"], "delete": ["class", "where", "args"],
    ]

    /// Reads one step, whose members begin either with the name of a class (`name`) or with the
    /// class that it is about (`class`).
    private func step(_ verb: String, _ json: JSONValue, _ place: InputPlace) throws(Problem) -> MigrationStep {
        if verb == "addClass" { return .addClass(try reader.classInput(json, place)) }
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
            return .set(try match(className, object, place), values: try values(object, "values", place, takesExpressions: true))
        case "create": return .create(className: className, body: try values(object, "body", place, takesExpressions: false))
        case "delete": return .delete(try match(className, object, place))
        case "setType": return .setType(className: className, type: try reader.required(object, "type", place))
        case "setPrimaryKey":
            guard object["name"] != nil else { throw reader.malformed("'name' is missing; null removes the primary key", place) }
            return .setPrimaryKey(className: className, name: try reader.text(object, "name", place))
        default: return try propertyStep(verb, className: className, object, at: place)
        }
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
            let failures = ConversionFailure.allCases.map(\.rawValue)
            let onFailure = try reader.choice(object, "onFailure", among: failures, at: place)
            change.onFailure = onFailure.flatMap { ConversionFailure(rawValue: $0) }
            let roundings = NumberRounding.allCases.map(\.rawValue)
            let rounding = try reader.choice(object, "rounding", among: roundings, at: place)
            change.rounding = rounding.flatMap { NumberRounding(rawValue: $0) }
            return .changeProperty(change)
        }
    }

    // MARK: - Values

    /// Reads a member that is a value of a property; nil when it is absent.
    ///
    /// - Throws: The problem of a wrapper that cannot be read, with a pointer to it.
    private func value(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> InputValue? {
        guard let json = object[name] else { return nil }
        let read = Result { () throws(InputReader.InputError) in try InputReader().value(json) }
        return try read.value(at: place.inside(name))
    }

    /// Reads a member that has values for several properties.
    ///
    /// - Parameters:
    ///   - object: The step.
    ///   - name: The name of the member, for example `values`.
    ///   - place: The place of the step in the body.
    ///   - takesExpressions: Whether values may be computed from the object's old ones.
    private func values(
        _ object: JSONObject, _ name: String, _ place: InputPlace, takesExpressions: Bool
    ) throws(Problem) -> InputObject {
        guard let json = object[name] else { throw reader.malformed("'\(name)' is missing", place) }
        let read = Result { () throws(InputReader.InputError) in
            try InputReader(takesExpressions: takesExpressions).object(json)
        }
        return try read.value(at: place.inside(name))
    }

    /// Reads which objects of a class a step is about. The arguments are decoded when the step is
    /// applied, against the schema of that moment.
    ///
    /// - Throws: `missing_where` without `where`; `invalid_query` or `invalid_parameter` with a
    ///   pointer.
    private func match(_ className: String, _ object: JSONObject, _ place: InputPlace) throws(Problem) -> MigrationMatch {
        guard let text = try reader.text(object, "where", place) else {
            throw place.describe(Problem(.missingWhere, "'where' has to select the objects; TRUEPREDICATE selects all"))
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
