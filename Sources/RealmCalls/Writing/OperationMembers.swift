// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Reads the members of one operation of a batch, checking each on its own.
///
/// A missing or malformed member is `invalid_body` with a pointer to it, unless a function says otherwise.
struct OperationMembers {
    private let object: JSONObject
    /// The place of that object in the request body, for pointers.
    private let place: InputPlace
    /// The bounds of the server, for queries and their arguments.
    private let limits: Limits
    /// The class of the operation where its batch has one class; nil where the operation names it.
    private let knownClass: String?

    /// Creates a reader of an operation's members.
    ///
    /// - Parameters:
    ///   - object: The operation's value, as in `{"patch": object}`.
    ///   - place: Its place in the request body.
    ///   - limits: The bounds of the server.
    ///   - className: The class of the operation where its batch has one class; nil where the operation names it.
    package init(_ object: JSONObject, _ place: InputPlace, _ limits: Limits, className: String? = nil) {
        knownClass = className
        self.object = object
        self.place = place
        self.limits = limits
    }

    /// Whether a member is given, even as null.
    package func has(_ name: String) -> Bool { object[name] != nil }

    /// Throws `invalid_body` for a member that is not among `names`; the detail proposes a similar name.
    package func requireKnown(_ names: [String]) throws(Problem) {
        for member in object.members where !names.contains(member.name) {
            let hint = Suggestion.hint(for: member.name, in: names)
            throw invalid(member.name, "this operation has no member '\(member.name.truncated)'\(hint)")
        }
    }

    /// Makes the problem of a member that is malformed, with a pointer to it.
    package func invalid(_ name: String, _ detail: String) -> Problem {
        place.inside(name).describe(Problem(.invalidBody, detail))
    }

    // MARK: - Simple members

    /// Returns a member that has to be a string; nil when it is absent. Null is not a string.
    package func text(_ name: String) throws(Problem) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw invalid(name, "'\(name)' is \(value.kind), but must be a string") }
        return text
    }

    package func required(_ name: String) throws(Problem) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    package func className() throws(Problem) -> String {
        if let knownClass { return knownClass }
        return try required("class")
    }

    /// Makes the problem of a member that is absent, with a pointer to the operation.
    private func missing(_ name: String) -> Problem { place.describe(Problem(.invalidBody, "the operation has no '\(name)'")) }

    /// Returns a member that has to be a whole number of at least 0; nil when it is absent.
    package func int(_ name: String) throws(Problem) -> Int? {
        guard let value = object[name] else { return nil }
        guard case .integer(let number) = value, number >= 0 else {
            throw invalid(name, "'\(name)' must be a whole number of at least 0")
        }
        return Int(number)
    }

    /// Reads `nested`: whether full objects in the place of links are created or updated. An absent
    /// member, and the word `refuse`, mean that they are errors.
    package func nested() throws(Problem) -> Bool {
        guard let text = try text("nested") else { return false }
        guard ["refuse", "upsert"].contains(text) else { throw invalid("nested", "'nested' must be 'upsert'") }
        return text == "upsert"
    }

    /// Reads `upsert`: which values are written into an object that exists; nil when it is absent,
    /// and an existing key is an error.
    package func policy() throws(Problem) -> WriteSession.UpsertPolicy? {
        switch try text("upsert") {
        case nil: return nil
        case "modified": return .modified
        case "all": return .all
        default: throw invalid("upsert", "'upsert' must be one of: modified, all")
        }
    }

    // MARK: - Objects

    /// Reads `body` as the input of an object. An error inside it is kept, to be reported when the operation is applied.
    package func body() throws(Problem) -> InputReader.Reading {
        guard let value = object["body"] else { throw missing("body") }
        return InputReader.read(value)
    }

    /// Reads `body` as a change of an object: a merge patch if it is an object, a JSON Patch if it is an array.
    package func patch() throws(Problem) -> ObjectPatch {
        guard let value = object["body"] else { throw missing("body") }
        return try ObjectPatch(value, at: place.inside("body"))
    }

    /// Reads a member of any type as an input. An error inside it is kept, to be reported when the operation is applied.
    ///
    /// - Throws: `invalid_body` when the member is absent.
    package func value(_ name: String) throws(Problem) -> Result<InputValue, InputReader.InputError> {
        guard let value = object[name] else { throw missing(name) }
        return Result { () throws(InputReader.InputError) in try InputReader().value(value) }
    }

    /// Reads the object that an operation is about: `class`, `key`, `ifMatch` and `ifNoneMatch`.
    package func target() throws(Problem) -> BatchOperation.ObjectTarget {
        let condition = try WriteCondition(
            ifMatch: try text("ifMatch"), ifNoneMatch: try text("ifNoneMatch"),
            problem: { name, detail in invalid(name == "If-Match" ? "ifMatch" : "ifNoneMatch", detail) })
        return BatchOperation.ObjectTarget(className: try className(), key: try key(), condition: condition)
    }

    /// Reads `key`: the text of a key, or `{"ref":…}` with the name of an object made by an earlier operation.
    private func key() throws(Problem) -> ObjectName {
        switch object["key"] {
        case nil: throw missing("key")
        case .string(let text)?: return .text(text)
        case .object(let reference)?:
            if reference.count == 1, let name = reference["ref"]?.string { return .reference(name) }
        default: break
        }
        throw invalid("key", "'key' must be a string, or name an object made earlier as {\"ref\":…}")
    }

    // MARK: - Queries

    /// Reads `where`, `args` and `maxAffected`; nil when there is no `where`.
    package func matches() throws(Problem) -> Selection? { has("where") ? try requiredMatches() : nil }

    /// Reads `where`, `args` and `maxAffected` of an operation that has to select objects explicitly.
    ///
    /// - Throws: `missing_where` without `where`; `invalid_query` when it cannot be parsed;
    ///   `invalid_parameter` for `args` that are no array.
    package func requiredMatches() throws(Problem) -> Selection {
        do throws(Problem) {
            return try Selection(
                try text("where"), args: object["args"], maximum: try int("maxAffected"), limits)
        } catch {
            if error.code == .missingWhere { throw place.describe(Problem(.missingWhere, error.detail)) }
            throw place.inside(error.code == .invalidParameter ? "args" : "where").describe(error)
        }
    }

    // MARK: - Collections

    /// Reads `property`: the name of a property, or a path that begins with one.
    ///
    /// Whether a text with dots or brackets is a name or a path depends on the class, so both readings are kept.
    package func property() throws(Problem) -> PropertyAddress {
        let text = try required("property")
        let steps = PropertyPath(text)?.steps.map { step -> InputPath.Step in
            switch step {
            case .name(let name): return .name(name)
            case .index(let index): return .index(index)
            }
        }
        return PropertyAddress(text, steps: steps)
    }

    /// Reads `ops`, the changes of a collection, and checks the form of each.
    ///
    /// - Parameter kind: The kind of collection, which decides the names of changes.
    /// - Throws: `invalid_body` for an unknown change, or for one whose value has the wrong form.
    package func steps(_ kind: CollectionKind) throws(Problem) -> [BatchOperation.CollectionStep] {
        guard let ops = object["ops"]?.array else { throw invalid("ops", "'ops' must be an array of changes") }
        let words = BatchOperation.CollectionStep.words(kind)
        var steps: [BatchOperation.CollectionStep] = []
        for (index, op) in ops.enumerated() {
            let inner = place.inside("ops").inside(index)
            guard let (word, value) = op.object?.single, words.contains(word) else {
                throw inner.describe(
                    Problem(.invalidBody, "a change is an object with one member out of: \(words.joined(separator: ", "))"))
            }
            let step = BatchOperation.CollectionStep(collection: kind, word: word, value: value, place: inner.inside(word))
            try step.check()
            steps.append(step)
        }
        return steps
    }
}
