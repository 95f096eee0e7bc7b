// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads the body of a batch, `{"ops":[…]}`, into operations.
///
/// Only the form is checked here: the names of operations and members, and the types of members that do not depend on a class.
/// Whether a class, a property or an object exists is found when the operations run, inside the transaction.
package struct BatchReader {
    /// The bounds of the server: the number of operations of a batch, the length of queries and arguments, the depth of JSON.
    private let limits: Limits
    /// The class of all operations; nil where each names its own.
    private let className: String?

    /// Creates a reader of batches.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server, which are applied.
    ///   - className: The class of all operations, which they do not name then; nil where each names its own.
    package init(_ limits: Limits, className: String? = nil) {
        self.limits = limits
        self.className = className
    }

    /// Reads all operations of a batch. The text of the body is released as soon as it is parsed.
    ///
    /// - Parameter call: A request whose body has arrived completely.
    /// - Returns: The operations in the order of the body. An empty array is a batch that changes
    ///   nothing.
    /// - Throws: `invalid_json` for a body that is not JSON; `invalid_body` for one that is not a
    ///   batch, with the place in `pointer` and the operation in `op`; `body_too_large` for more
    ///   operations than the limit `batch-operations`; `invalid_query` and `missing_where` for the
    ///   query of an operation.
    package func read(_ call: Call) throws(Problem) -> [BatchOperation] {
        let document = try call.request.body.takeJSON(limits.json)
        guard let object = document.object else { throw Problem(.invalidBody, "a batch must be an object with the member 'ops'") }
        for member in object.members where member.name != "ops" {
            let means = ["operations", "requests", "batch", "actions", "steps", "commands"].contains(member.name)
            let hint = means ? "; did you mean 'ops'?" : Suggestion.hint(for: member.name, in: ["ops"])
            throw InputPlace().inside(member.name).describe(
                Problem(.invalidBody, "a batch has no member '\(member.name.truncated)'\(hint)"))
        }
        guard let ops = object["ops"]?.array else {
            throw Problem(.invalidBody, "'ops' must be an array of operations").with("pointer", "/ops")
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

    /// Reads one element of `ops`: an object whose only member is named after the operation.
    private func operation(_ json: JSONValue, _ index: Int) throws(Problem) -> BatchOperation {
        let place = InputPlace(pointer: "/ops/\(index)", operation: index)
        guard let (verb, value) = json.object?.single else {
            throw place.describe(
                Problem(.invalidBody, "an operation must be an object with one member, such as {\"create\":{…}}"))
        }
        let inner = place.inside(verb)
        guard let members = value.object else {
            throw inner.describe(Problem(.invalidBody, "'\(verb)' is \(value.kind), but must be an object"))
        }
        guard let names = BatchReader.members[verb] else {
            throw inner.describe(Problem(.invalidBody, "there is no operation '\(verb.truncated)'\(BatchReader.hint(for: verb))"))
        }
        let reader = OperationMembers(members, inner, limits, className: className)
        if className != nil, reader.has("class") {
            throw reader.invalid("class", "the path names the class already; POST …/batch takes operations that name theirs")
        }
        try reader.requireKnown(className == nil ? names : names.filter { $0 != "class" })
        return BatchOperation(place: inner, kind: try kind(verb, reader))
    }

    /// Returns the end of the error text about a word that is no operation.
    private static func hint(for verb: String) -> String {
        let meanings: [ByteText: String] = [
            "insert": "create", "add": "create", "post": "create", "update": "patch", "set": "patch", "replace": "put",
            "remove": "delete",
        ]
        if let meant = meanings[verb.lowercasedASCII] { return "; did you mean '\(meant)'?" }
        let hint = Suggestion.hint(for: verb, in: members.keys.sorted().texts)
        return hint.isEmpty ? "; there are \(members.keys.sorted().texts.joined(separator: ", "))" : hint
    }

    /// The members that name an object and the conditions on it. Every operation about one object takes them.
    private static let object = ["class", "key", "ifMatch", "ifNoneMatch"]
    /// The members that each operation takes, by the name of the operation. Others are refused as `invalid_body`.
    private static let members: [ByteText: [String]] = [
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

    /// Reads the members of an operation whose name is known, and whose members have known names.
    private func kind(_ verb: String, _ members: OperationMembers) throws(Problem) -> BatchOperation.Kind {
        switch verb {
        case "create":
            return .create(
                className: try members.className(), body: try members.body(), name: try members.text("as"),
                policy: try members.policy(), nested: try members.nested())
        case "put": return .put(try members.target(), body: try members.body(), nested: try members.nested())
        case "patch": return .patch(try members.target(), try members.patch(), nested: try members.nested())
        case "delete": return .delete(try members.target())
        case "patchWhere":
            return .query(
                .patch(
                    className: try members.className(), try members.requiredMatches(), body: try members.body(),
                    nested: try members.nested()))
        case "deleteWhere":
            return .query(.delete(className: try members.className(), try members.requiredMatches()))
        case "increment": return .increment(try members.target(), try members.property(), by: try members.value("by"))
        case "assert": return .query(try assertion(members))
        case "list": return try collection(.list, members)
        case "set": return try collection(.set, members)
        default: return try collection(.dictionary, members)
        }
    }

    /// Reads an operation on the elements of a list, set or dictionary.
    private func collection(_ kind: CollectionKind, _ members: OperationMembers) throws(Problem) -> BatchOperation.Kind {
        .collection(kind, try members.target(), try members.property(), try members.steps(kind))
    }

    /// Reads an `assert`. It is about one object when it has a `key`, and about a query otherwise;
    /// only the latter takes `count`.
    private func assertion(_ members: OperationMembers) throws(Problem) -> BatchOperation.QueryKind {
        guard members.has("key") else {
            return .assertCount(
                className: try members.className(), try members.matches(), count: try members.int("count"))
        }
        guard !members.has("count") else { throw members.invalid("count", "'count' is for queries, not for one object") }
        return .assertObject(try members.target(), try members.matches())
    }
}
