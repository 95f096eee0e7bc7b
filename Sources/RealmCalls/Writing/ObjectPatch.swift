// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A change of one object: a merge patch (RFC 7396) or a JSON Patch (RFC 6902).
///
/// It is read from a request or an operation of a batch before the write waits for its turn, and
/// applied on the writer's thread.
package enum ObjectPatch: Sendable {
    /// The members to write; null makes a property null, and embedded objects and dictionaries are merged.
    case merge(InputReader.Reading)
    /// The operations of a JSON Patch, in the order in which they are applied.
    case edits([Edit])

    /// One operation of a JSON Patch.
    package struct Edit: Sendable {
        /// The operations that RFC 6902 defines; the raw value is the `op` of an operation.
        enum Kind: String, Sendable { case add, remove, replace, move, copy, test }

        /// The kind of operation: its member `op`.
        let kind: Kind
        /// The steps of the JSON Pointer `path`, through the object as it is represented. Array
        /// indexes are names here until they meet a list.
        let path: [InputPath.Step]
        /// The steps of `from`; empty but for `move` and `copy`.
        let from: [InputPath.Step]
        /// The value of `add`, `replace` and `test`, or the error in it, which is reported when the
        /// operation is applied; nil for the other operations.
        let value: Result<InputValue, InputReader.InputError>?
    }

    /// Reads the body of a PATCH request; the text of the body is released.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - isJSONPatch: Whether the media type is `application/json-patch+json`. Any other type
    ///     means a merge patch.
    /// - Throws: `invalid_json`, and `invalid_body` for a malformed JSON Patch.
    package init(_ call: Call, isJSONPatch: Bool) throws(Problem) {
        let json = try call.request.body.takeJSON(call.limits.json)
        self = isJSONPatch ? .edits(try ObjectPatch.edits(json, InputPlace())) : .merge(InputReader.read(json))
    }

    /// Reads the `body` of a batch operation: an array is a JSON Patch, anything else a merge patch.
    ///
    /// - Parameters:
    ///   - json: The member's value.
    ///   - place: Its place in the request body.
    /// - Throws: `invalid_body` for a malformed JSON Patch.
    package init(_ json: JSONValue, at place: InputPlace) throws(Problem) {
        if case .array = json {
            self = .edits(try ObjectPatch.edits(json, place))
        } else {
            self = .merge(InputReader.read(json))
        }
    }

    // MARK: - Reading

    /// Reads the array of a JSON Patch.
    private static func edits(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> [Edit] {
        guard let elements = json.array else {
            throw place.describe(Problem(.invalidBody, "a JSON Patch must be an array of operations"))
        }
        var edits: [Edit] = []
        for (index, element) in elements.enumerated() { edits.append(try edit(element, place.inside(index))) }
        return edits
    }

    /// Reads one operation of a JSON Patch. Members that RFC 6902 does not define are ignored, as that document demands.
    private static func edit(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> Edit {
        guard let object = json.object, let name = object["op"]?.string, let kind = Edit.Kind(rawValue: name) else {
            throw place.describe(
                Problem(.invalidBody, "an operation of a JSON Patch needs an 'op' of add, remove, replace, move, copy or test"))
        }
        let path = try pointer(object, "path", place)
        switch kind {
        case .add, .replace, .test:
            guard let value = object["value"] else {
                throw place.describe(Problem(.invalidBody, "the operation '\(name)' has no 'value'"))
            }
            return Edit(
                kind: kind, path: path, from: [],
                value: Result { () throws(InputReader.InputError) in try InputReader().value(value) })
        case .remove: return Edit(kind: kind, path: path, from: [], value: nil)
        case .move, .copy: return Edit(kind: kind, path: path, from: try pointer(object, "from", place), value: nil)
        }
    }

    /// Reads a member that has to be a JSON Pointer of at most `PropertyPath.maximumSteps` steps.
    private static func pointer(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> [InputPath.Step] {
        guard let text = object[name]?.string, let steps = steps(text) else {
            throw place.inside(name).describe(Problem(.invalidBody, "'\(name)' must be a JSON Pointer"))
        }
        guard steps.count <= PropertyPath.maximumSteps else {
            throw place.inside(name).describe(
                .overLimit(
                    .invalidBody, "a JSON Pointer has at most \(PropertyPath.maximumSteps) steps",
                    limit: PropertyPath.maximumSteps))
        }
        return steps
    }

    /// Returns the steps of a JSON Pointer (RFC 6901), with `~0` and `~1` decoded; nil when the text is no pointer.
    ///
    /// The empty text is the pointer to the whole document and has no steps.
    package static func steps(_ text: String) -> [InputPath.Step]? {
        if text.isEmpty { return [] }
        guard let rest = text.dropping(prefix: "/") else { return nil }
        var steps: [InputPath.Step] = []
        // A slash with a mark behind it is one character, and separates all the same.
        for part in rest.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false) {
            guard let name = unescaped(Substring(part)) else { return nil }
            steps.append(.name(name))
        }
        return steps
    }

    /// Decodes one part of a JSON Pointer; nil when a `~` is followed by anything but 0 or 1.
    private static func unescaped(_ part: Substring) -> String? {
        var name = ""
        var rest = part.unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                name.unicodeScalars.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": name += "~"
            case "1": name += "/"
            default: return nil
            }
        }
        return name
    }

    // MARK: - Applying

    /// Applies the patch to an object inside the transaction.
    ///
    /// - Parameters:
    ///   - object: The object to change.
    ///   - session: The transaction.
    ///   - options: The handling of inputs.
    ///   - place: The place of the patch in the request body, at which the pointers of problems
    ///     begin.
    /// - Returns: The place of the object, which was not created.
    /// - Throws: The first error. The changes before it are undone by the caller's rollback.
    package func apply(
        to object: ObjectPlace, _ session: WriteSession, _ options: WriteSession.Options, at place: InputPlace
    ) throws(Problem) -> WriteSession.Written {
        switch self {
        case .merge(let body):
            let members = try body.value(at: place)
            return try Problem.written(session.patch(object, members, options: options), at: place)
        case .edits(let edits):
            for (index, edit) in edits.enumerated() {
                try apply(edit, to: object, session, options, at: place.inside(index))
            }
            return try Problem.written(session.edit(object, [], options: options), at: place)
        }
    }

    /// Applies one operation of a JSON Patch.
    ///
    /// The engine reports where an error is relative to the edit. This is translated to the operation's member: an error inside
    /// the value points to `value`, a place that does not exist to `path`, anything else to the operation.
    private func apply(
        _ edit: Edit, to object: ObjectPlace, _ session: WriteSession, _ options: WriteSession.Options, at place: InputPlace
    ) throws(Problem) {
        let change = try edit.pathEdit(place)
        do throws(WriteError) {
            _ = try session.edit(object, [change], options: options)
        } catch {
            var inner = error
            inner.path = InputPath(Array(error.path.steps.dropFirst()))
            // An error with a path is inside the value; any other one is about the path of the operation.
            let part: String? =
                !inner.path.steps.isEmpty
                ? "value"
                : [.pathNotFound, .unknownProperty].contains(error.code) ? "path" : nil
            throw Problem(inner, at: part.map(place.inside) ?? place)
        }
    }
}

/// Translates an operation of a JSON Patch for the engine.
extension ObjectPatch.Edit {
    /// Returns the operation as an edit of the engine. Throws the error in the value, if there is one.
    fileprivate func pathEdit(_ place: InputPlace) throws(Problem) -> PathEdit {
        let value = try value?.value(at: place.inside("value")) ?? .null
        switch kind {
        case .add: return .add(path: path, value)
        case .replace: return .replace(path: path, value)
        case .test: return .test(path: path, value)
        case .remove: return .remove(path: path)
        case .move: return .move(from: from, path: path)
        case .copy: return .copy(from: from, path: path)
        }
    }
}
