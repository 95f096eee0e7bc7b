// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Reads the document of a batch.
struct BatchReader {
    private let limits: Limits

    init(_ limits: Limits) { self.limits = limits }

    func read(_ request: Request) throws(Problem) -> [BatchOperation] {
        let document = try request.takeJSON(limits)
        guard let object = document.object else { throw Problem(.invalidBody, "a batch is an object with the member 'ops'") }
        for member in object.members where member.name != "ops" {
            throw InputPlace().inside(member.name).describe(Problem(.invalidBody, "a batch has no member '\(member.name)'"))
        }
        guard let ops = object["ops"]?.array else {
            throw Problem(.invalidBody, "a batch has the member 'ops', an array of operations").with("pointer", "/ops")
        }
        guard ops.count <= limits.batchOperations else {
            throw .overLimit(
                .bodyTooLarge, "a batch has at most \(limits.batchOperations) operations", limit: limits.batchOperations)
        }
        var operations: [BatchOperation] = []
        operations.reserveCapacity(ops.count)
        for (index, op) in ops.enumerated() { operations.append(try operation(op, index)) }
        return operations
    }

    private func operation(_ json: JSONValue, _ index: Int) throws(Problem) -> BatchOperation {
        let place = InputPlace(pointer: "/ops/\(index)", operation: index)
        guard let (verb, value) = json.object?.single else {
            throw place.describe(
                Problem(.invalidBody, "an operation is an object with one member, which is named after what it does"))
        }
        let inner = place.inside(verb)
        guard let members = value.object else {
            throw inner.describe(Problem(.invalidBody, "'\(verb)' is \(value.kind), but has to be an object"))
        }
        guard let names = BatchReader.members[verb] else {
            throw inner.describe(Problem(.invalidBody, "there is no operation '\(verb)'"))
        }
        let reader = OperationMembers(members, inner, limits)
        try reader.requireKnown(names)
        return BatchOperation(place: inner, kind: try kind(verb, reader))
    }

    private static let object = ["class", "key", "ifMatch", "ifNoneMatch"]
    private static let members: [String: [String]] = [
        "create": ["class", "body", "as", "upsert", "nested"],
        "put": object + ["body", "nested"],
        "patch": object + ["body", "nested"],
        "delete": object,
        "patchWhere": ["class", "where", "args", "body", "maxAffected", "nested"],
        "deleteWhere": ["class", "where", "args", "maxAffected"],
        "increment": object + ["property", "by"],
        "assert": object + ["where", "args", "count"],
        "list": object + ["property", "ops", "nested"],
        "set": object + ["property", "ops", "nested"],
        "dictionary": object + ["property", "ops", "nested"],
    ]

    private func kind(_ verb: String, _ members: OperationMembers) throws(Problem) -> BatchOperation.Kind {
        switch verb {
        case "create":
            return .create(
                className: try members.required("class"), body: try members.body(), name: try members.text("as"),
                policy: try members.policy(), nested: try members.nested())
        case "put": return .put(try members.target(), body: try members.body(), nested: try members.nested())
        case "patch": return .patch(try members.target(), try members.patch(), nested: try members.nested())
        case "delete": return .delete(try members.target())
        case "patchWhere":
            return .query(
                .patch(
                    className: try members.required("class"), try members.requiredMatches(), body: try members.body(),
                    nested: try members.nested()))
        case "deleteWhere":
            return .query(.delete(className: try members.required("class"), try members.requiredMatches()))
        case "increment": return .increment(try members.target(), try members.property(), by: try members.value("by"))
        case "assert": return .query(try assertion(members))
        case "list": return try collection(.list, members)
        case "set": return try collection(.set, members)
        default: return try collection(.dictionary, members)
        }
    }

    private func collection(_ kind: CollectionKind, _ members: OperationMembers) throws(Problem) -> BatchOperation.Kind {
        .collection(kind, try members.target(), try members.property(), try members.steps(kind))
    }

    private func assertion(_ members: OperationMembers) throws(Problem) -> BatchOperation.QueryKind {
        guard members.has("key") else {
            return .assertCount(
                className: try members.required("class"), try members.matches(), count: try members.int("count"))
        }
        guard !members.has("count") else { throw members.invalid("count", "'count' is for queries, not for one object") }
        return .assertObject(try members.target(), try members.matches())
    }
}
