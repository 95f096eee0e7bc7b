// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The members of an operation, each checked by itself; what is malformed is `invalid_body`.
struct OperationMembers {
    private let object: JSONObject
    private let place: InputPlace
    private let limits: Limits

    init(_ object: JSONObject, _ place: InputPlace, _ limits: Limits) {
        self.object = object
        self.place = place
        self.limits = limits
    }

    func has(_ name: String) -> Bool { object[name] != nil }

    func requireKnown(_ names: [String]) throws(Problem) {
        for member in object.members where !names.contains(member.name) {
            let hint = Spelling.nearest(to: member.name, in: names).map { "; did you mean '\($0)'?" } ?? ""
            throw invalid(member.name, "this operation has no member '\(member.name)'\(hint)")
        }
    }

    func invalid(_ name: String, _ detail: String) -> Problem { place.inside(name).describe(Problem(.invalidBody, detail)) }

    // MARK: - Simple members

    func text(_ name: String) throws(Problem) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw invalid(name, "'\(name)' is \(value.kind), but has to be a string") }
        return text
    }

    func required(_ name: String) throws(Problem) -> String {
        guard let text = try text(name) else { throw missing(name) }
        return text
    }

    private func missing(_ name: String) -> Problem { place.describe(Problem(.invalidBody, "the operation has no '\(name)'")) }

    func int(_ name: String) throws(Problem) -> Int? {
        guard let value = object[name] else { return nil }
        guard case .integer(let number) = value, number >= 0 else {
            throw invalid(name, "'\(name)' has to be a whole number of at least 0")
        }
        return Int(number)
    }

    func nested() throws(Problem) -> Bool {
        guard let text = try text("nested") else { return false }
        guard ["refuse", "upsert"].contains(text) else { throw invalid("nested", "'nested' has to be 'upsert'") }
        return text == "upsert"
    }

    func policy() throws(Problem) -> WriteSession.UpsertPolicy? {
        switch try text("upsert") {
        case nil: return nil
        case "modified": return .modified
        case "all": return .all
        default: throw invalid("upsert", "'upsert' has to be one of: modified, all")
        }
    }

    // MARK: - Objects

    func body() throws(Problem) -> ObjectBodies.Reading {
        guard let value = object["body"] else { throw missing("body") }
        return ObjectBodies.read(value)
    }

    func patch() throws(Problem) -> ObjectPatch {
        guard let value = object["body"] else { throw missing("body") }
        return try ObjectPatch(value, at: place.inside("body"))
    }

    func value(_ name: String) throws(Problem) -> Result<InputValue, InputReader.Mistake> {
        guard let value = object[name] else { throw missing(name) }
        return Result { () throws(InputReader.Mistake) in try InputReader().value(value) }
    }

    func target() throws(Problem) -> BatchOperation.ObjectTarget {
        let condition = try WriteCondition(
            ifMatch: try text("ifMatch"), ifNoneMatch: try text("ifNoneMatch"),
            problem: { name, detail in invalid(name == "If-Match" ? "ifMatch" : "ifNoneMatch", detail) })
        return BatchOperation.ObjectTarget(className: try required("class"), key: try key(), condition: condition)
    }

    /// A key text, or the name of an object made by an operation before.
    private func key() throws(Problem) -> ObjectName {
        switch object["key"] {
        case nil: throw missing("key")
        case .string(let text)?: return .text(text)
        case .object(let reference)?:
            if reference.count == 1, let name = reference["ref"]?.string { return .reference(name) }
        default: break
        }
        throw invalid("key", "'key' has to be a string, or the name of an object made before as {\"ref\":…}")
    }

    // MARK: - Queries

    func matches() throws(Problem) -> BatchOperation.Matches? { has("where") ? try requiredMatches() : nil }

    func requiredMatches() throws(Problem) -> BatchOperation.Matches {
        guard let text = try text("where") else {
            throw place.describe(Problem(.missingWhere, "say which objects are meant with 'where'; TRUEPREDICATE means all"))
        }
        do throws(Problem) {
            return BatchOperation.Matches(
                query: try SelectionParameters.query(text, limits), args: try SelectionParameters.args(object["args"], limits),
                maximum: try int("maxAffected"))
        } catch {
            let isArgument = error.code == .invalidParameter
            throw place.inside(isArgument ? "args" : "where").describe(error)
        }
    }

    // MARK: - Collections

    /// A property, or a path from it.
    func property() throws(Problem) -> PropertyAddress {
        let text = try required("property")
        let steps = PropertyPath(text)?.steps.map { step -> InputPath.Step in
            switch step {
            case .name(let name): return .name(name)
            case .index(let index): return .index(index)
            }
        }
        return PropertyAddress(text, steps: steps)
    }

    /// The changes of a collection; whether what stands with a word makes sense is checked when it is read.
    func steps(_ kind: CollectionKind) throws(Problem) -> [BatchOperation.CollectionStep] {
        guard let ops = object["ops"]?.array else { throw invalid("ops", "'ops' has to be an array of changes") }
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
