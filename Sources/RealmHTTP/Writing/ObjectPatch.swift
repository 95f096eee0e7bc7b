// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// A change of one object: a merge patch (RFC 7396) or a JSON Patch (RFC 6902).
enum ObjectPatch: Sendable {
    case merge(ObjectBodies.Reading)
    case edits([Edit])

    /// One operation of a JSON Patch. Its value may have a mistake, which is told when it is its turn.
    struct Edit: Sendable {
        enum Kind: String, Sendable { case add, remove, replace, move, copy, test }

        let kind: Kind
        let path: [InputPath.Step]
        let from: [InputPath.Step]
        let value: Result<InputValue, InputReader.Mistake>?
    }

    init(_ call: WriteCall, isJSONPatch: Bool) throws(Problem) {
        let json = try call.request.takeJSON(call.limits)
        self = isJSONPatch ? .edits(try ObjectPatch.edits(json, InputPlace())) : .merge(ObjectBodies.read(json))
    }

    /// As it stands in an operation: an object is a merge patch, an array a JSON Patch.
    init(_ json: JSONValue, at place: InputPlace) throws(Problem) {
        if case .array = json {
            self = .edits(try ObjectPatch.edits(json, place))
        } else {
            self = .merge(ObjectBodies.read(json))
        }
    }

    // MARK: - Reading

    private static func edits(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> [Edit] {
        guard let elements = json.array else {
            throw place.describe(Problem(.invalidBody, "a JSON Patch is an array of operations"))
        }
        var edits: [Edit] = []
        for (index, element) in elements.enumerated() { edits.append(try edit(element, place.inside(index))) }
        return edits
    }

    /// Members that RFC 6902 does not define are ignored, as it says.
    private static func edit(_ json: JSONValue, _ place: InputPlace) throws(Problem) -> Edit {
        guard let object = json.object, let name = object["op"]?.string, let kind = Edit.Kind(rawValue: name) else {
            throw place.describe(
                Problem(.invalidBody, "an operation of a JSON Patch has an 'op' of add, remove, replace, move, copy or test"))
        }
        let path = try pointer(object, "path", place)
        switch kind {
        case .add, .replace, .test:
            guard let value = object["value"] else {
                throw place.describe(Problem(.invalidBody, "the operation '\(name)' has no 'value'"))
            }
            return Edit(
                kind: kind, path: path, from: [],
                value: Result { () throws(InputReader.Mistake) in try InputReader().value(value) })
        case .remove: return Edit(kind: kind, path: path, from: [], value: nil)
        case .move, .copy: return Edit(kind: kind, path: path, from: try pointer(object, "from", place), value: nil)
        }
    }

    private static func pointer(_ object: JSONObject, _ name: String, _ place: InputPlace) throws(Problem) -> [InputPath.Step] {
        guard let text = object[name]?.string, let steps = steps(text) else {
            throw place.inside(name).describe(Problem(.invalidBody, "'\(name)' has to be a JSON Pointer"))
        }
        guard steps.count <= PropertyPath.maximumSteps else {
            throw place.inside(name).describe(
                .overLimit(
                    .invalidBody, "a JSON Pointer has at most \(PropertyPath.maximumSteps) steps",
                    limit: PropertyPath.maximumSteps))
        }
        return steps
    }

    /// The steps of a JSON Pointer (RFC 6901); nil when it is none.
    static func steps(_ text: String) -> [InputPath.Step]? {
        if text.isEmpty { return [] }
        guard text.hasPrefix("/") else { return nil }
        var steps: [InputPath.Step] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let name = unescaped(part) else { return nil }
            steps.append(.name(name))
        }
        return steps
    }

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

    /// Applies the patch to an object; mistakes tell where in the body, which begins at `place`, they are.
    func apply(
        to object: ObjectPlace, _ session: WriteSession, _ options: WriteSession.Options, at place: InputPlace
    ) throws(Problem) -> WriteSession.Written {
        switch self {
        case .merge(let body):
            let members = try body.value(at: place)
            return try Problem.writing(place) { () throws(WriteError) in
                try session.patch(object, members, options: options)
            }
        case .edits(let edits):
            for (index, edit) in edits.enumerated() {
                try apply(edit, to: object, session, options, at: place.inside(index))
            }
            return try Problem.writing(place) { () throws(WriteError) in try session.edit(object, [], options: options) }
        }
    }

    private func apply(
        _ edit: Edit, to object: ObjectPlace, _ session: WriteSession, _ options: WriteSession.Options, at place: InputPlace
    ) throws(Problem) {
        let change = try edit.pathEdit(place)
        do throws(WriteError) {
            _ = try session.edit(object, [change], options: options)
        } catch {
            var inner = error
            inner.path = InputPath(Array(error.path.steps.dropFirst()))
            // A mistake in the value says where in it; anything else is about the path.
            let part: String? =
                !inner.path.steps.isEmpty
                ? "value"
                : [.pathNotFound, .unknownProperty].contains(error.code) ? "path" : nil
            throw Problem(inner, at: part.map(place.inside) ?? place)
        }
    }
}

extension ObjectPatch.Edit {
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
