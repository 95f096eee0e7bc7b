// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Turns JSON into the inputs that the engine writes.
///
/// Plain JSON keeps its form until the engine knows which property it is for. Extended JSON wrappers and link stubs state their
/// type themselves and are decoded here. An object is a wrapper when its only member has the name of one; every other object is
/// a set of members, which the engine checks.
package struct InputReader {
    /// Whether `{"$expr":…}` is an expression that is computed from other properties, and `{"$each":…}` is computed from a
    /// collection, as in migrations. Elsewhere they are objects with members of these names.
    private let takesExpressions: Bool

    /// Creates a reader.
    ///
    /// - Parameter takesExpressions: Whether the values may be expressions at any depth, as in the
    ///   steps of a migration.
    package init(takesExpressions: Bool = false) { self.takesExpressions = takesExpressions }

    /// An error in a wrapper, and its place relative to the input.
    ///
    /// It is not a `Problem` yet: reading happens early, but the error is reported only when it is the input's turn.
    package struct InputError: Error, Sendable {
        /// The problem code that the error will have.
        package let code: ProblemCode
        /// The sentence that the problem will have as its detail.
        package let detail: String
        /// The path from the input to the wrapper; empty when the input is the wrapper.
        package var steps: [InputPath.Step] = []

        /// Returns the same error, seen from the value that holds the input under `step`.
        func inside(_ step: InputPath.Step) -> InputError {
            InputError(code: code, detail: detail, steps: [step] + steps)
        }
    }

    /// Reads one value, with the wrappers of Extended JSON decoded.
    ///
    /// Whether the value fits a property is checked later, in the write.
    ///
    /// - Throws: A `InputError` for a wrapper whose contents cannot be read, with the path to it.
    /// - Complexity: O(n) in the number of JSON values inside.
    package func value(_ json: JSONValue) throws(InputError) -> InputValue {
        switch json {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .longInteger(let digits): return .wideInteger(digits)
        case .real(let number): return .real(number)
        case .longReal(let digits): return .wideReal(digits)
        case .string(let text): return .text(text)
        case .array(let elements): return .list(try values(elements))
        case .object(let object):
            if let (name, inner) = object.single, name.hasPrefix("$"), let value = try wrapper(name, inner) { return value }
            return .object(try members(object))
        }
    }

    /// Reads the elements of an array, in their order.
    ///
    /// - Throws: The first error, which states in which element it is.
    package func values(_ elements: [JSONValue]) throws(InputError) -> [InputValue] {
        var values: [InputValue] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(InputError) { values.append(try value(element)) } catch { throw error.inside(.index(index)) }
        }
        return values
    }

    /// Reads the members of an object of a class. A wrapper in its place is not decoded.
    ///
    /// - Parameter json: The JSON in the place of the object.
    /// - Returns: The members in their order, each name once. Whether the class has them is checked
    ///   in the write.
    /// - Throws: A `InputError` with `type_mismatch` for JSON that is no object, or one for a wrapper
    ///   inside.
    package func object(_ json: JSONValue) throws(InputError) -> InputObject {
        guard let object = json.object else {
            throw InputError(code: .typeMismatch, detail: "expected an object of the class, got \(json.kind)")
        }
        return try members(object)
    }

    /// Reads the members of an object in their order. `$meta` is ignored on input, so its value is not read.
    private func members(_ object: JSONObject) throws(InputError) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        members.reserveCapacity(object.count)
        for member in object.members {
            // The value is ignored, so it need not be readable either.
            guard !MemberNaming.documents.ignores(member.name) else {
                members.append((name: member.name, value: .null))
                continue
            }
            do throws(InputError) {
                members.append((name: member.name, value: try value(member.value)))
            } catch {
                throw error.inside(.name(member.name))
            }
        }
        return InputObject(members)
    }

    // MARK: - Wrappers

    /// Reads the contents of a wrapper; nil when no wrapper has this name.
    private func wrapper(_ name: String, _ value: JSONValue) throws(InputError) -> InputValue? {
        switch name {
        case "$link": return .link(try InputReader.readable(link(value), name))
        case "$expr" where takesExpressions: return .expression(try InputReader.readable(value.string, name))
        case "$each" where takesExpressions: return .each(try each(value))
        default:
            do throws(ExtendedJSON.InputError) {
                return try ExtendedJSON.value(name, value).map { .typed($0) }
            } catch {
                throw InputError(error, name)
            }
        }
    }

    /// Returns the value, or throws that the wrapper cannot be read.
    private static func readable<Read>(_ read: Read?, _ name: String) throws(InputError) -> Read {
        guard let read else { throw InputError(.unreadable, name) }
        return read
    }

    /// Reads the contents of `$link`: `{"class","key"}`, or `{"ref"}` for an object made earlier in the same request. The key may
    /// be an expression where those are allowed. Nil for any other form.
    private func link(_ value: JSONValue) -> LinkInput? {
        if let stub = value.object, stub.count == 1, let name = stub["ref"]?.string { return .reference(name) }
        if takesExpressions, let stub = value.object, stub.count == 2, let className = stub["class"]?.string,
            let (name, text) = stub["key"]?.object?.single, name == "$expr", let expression = text.string
        {
            return .stub(className: className, key: .primaryKey(.expression(expression)))
        }
        return ExtendedJSON.stub(value).map { .stub(className: $0.className, key: .text($0.key)) }
    }
}

extension InputReader {
    /// The members of `$each`.
    private static let eachNames: Set<ByteText> = ["in", "as", "keyAs", "value"]

    /// Reads the contents of `$each`: a key path, the names of element and key, and the value that is made for each element.
    fileprivate func each(_ json: JSONValue) throws(InputError) -> EachInput {
        guard let object = json.object, let source = object["in"]?.string, let variable = object["as"]?.string,
            let value = object["value"], object.names.allSatisfy({ InputReader.eachNames.contains($0) }),
            object["keyAs"] == nil || object["keyAs"]?.string != nil
        else {
            throw InputError(
                code: .typeMismatch, detail: "'$each' has the members 'in', 'as' and 'value', perhaps 'keyAs', and no others",
                steps: [.name("$each")])
        }
        do throws(InputError) {
            return EachInput(in: source, as: variable, keyAs: object["keyAs"]?.string, try self.value(value))
        } catch {
            throw error.inside(.name("value")).inside(.name("$each"))
        }
    }
}

/// Makes errors of wrappers from those of their decoder, and problems from both.
extension InputReader.InputError {
    /// Makes the error of a wrapper from the error of its decoder.
    init(_ inputError: ExtendedJSON.InputError, _ name: String) {
        let code: ProblemCode
        switch inputError {
        case .unreadable: code = .typeMismatch
        case .outOfRange: code = .outOfRange
        case .decimalNeedsString: code = .decimalNeedsString
        }
        self.init(code: code, detail: inputError.detail(name))
    }

    /// Returns the problem that the error is.
    ///
    /// - Parameter root: The path of the input in the body, at which the pointer begins.
    func problem(at root: InputPath = InputPath()) -> Problem {
        Problem(code, detail).with("pointer", root.description + InputPath(steps).description)
    }
}

/// Reads objects whose errors are reported later.
extension InputReader {
    /// The input of one object, or the error in it.
    ///
    /// An error in an input is kept and reported when the object is written, because a problem with
    /// the state of the realm is reported before one with the values.
    package typealias Reading = Result<InputObject, InputReader.InputError>

    /// Reads one object from JSON, and keeps an error instead of throwing it.
    package static func read(_ value: JSONValue) -> Reading {
        Result { () throws(InputReader.InputError) in try InputReader().object(value) }
    }
}

/// Reports an input that was read early, at the time when it is written.
extension Result where Success: Sendable, Failure == InputReader.InputError {
    /// Returns the input that was read, or throws the problem with it.
    ///
    /// - Parameter place: The place of the input in the request body. The pointer of the problem
    ///   begins there.
    package func value(at place: InputPlace = InputPlace()) throws(Problem) -> Success {
        do throws(InputReader.InputError) {
            return try get()
        } catch {
            throw place.inside(InputPath(error.steps)).describe(Problem(error.code, error.detail))
        }
    }
}
