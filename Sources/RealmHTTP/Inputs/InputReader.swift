// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// Turns JSON into inputs: plain forms stay as they are until they meet a property, Extended JSON wrappers and link
/// stubs say their type themselves.
///
/// An object is a wrapper when its only member has the name of one. All others are objects; what is wrong with their
/// members is for the place they meet to say.
package struct InputReader {
    /// Whether `{"$expr":…}` is an expression: in migrations only.
    private let takesExpressions: Bool

    /// A reader; `takesExpressions` for the values of migrations, which may be computed from other properties.
    package init(takesExpressions: Bool = false) { self.takesExpressions = takesExpressions }

    /// A mistake in a wrapper, and where it is.
    package struct Mistake: Error, Sendable {
        package let code: ProblemCode
        package let detail: String
        package var steps: [InputPath.Step] = []

        /// The same mistake, seen from what holds the value.
        func inside(_ step: InputPath.Step) -> Mistake {
            Mistake(code: code, detail: detail, steps: [step] + steps)
        }
    }

    /// Reads one value, with the wrappers of Extended JSON undone. Whether it fits a property is checked in the write.
    package func value(_ json: JSONValue) throws(Mistake) -> InputValue {
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

    /// Reads the elements of an array. A mistake says at which of them it is.
    package func values(_ elements: [JSONValue]) throws(Mistake) -> [InputValue] {
        var values: [InputValue] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(Mistake) { values.append(try value(element)) } catch { throw error.inside(.index(index)) }
        }
        return values
    }

    /// The members of an object of a class.
    package func object(_ json: JSONValue) throws(Mistake) -> InputObject {
        guard let object = json.object else {
            throw Mistake(code: .typeMismatch, detail: "\(json.kind) stands where an object of the class belongs")
        }
        return try members(object)
    }

    private func members(_ object: JSONObject) throws(Mistake) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        members.reserveCapacity(object.count)
        for member in object.members {
            // What it says is of no interest, so it need not make sense either.
            guard !MemberNaming.documents.ignores(member.name) else {
                members.append((name: member.name, value: .null))
                continue
            }
            do throws(Mistake) {
                members.append((name: member.name, value: try value(member.value)))
            } catch {
                throw error.inside(.name(member.name))
            }
        }
        return InputObject(members)
    }

    // MARK: - Wrappers

    /// Nil when there is no wrapper of this name.
    private func wrapper(_ name: String, _ value: JSONValue) throws(Mistake) -> InputValue? {
        switch name {
        case "$link": return .link(try InputReader.readable(InputReader.link(value), name))
        case "$expr" where takesExpressions: return .expression(try InputReader.readable(value.string, name))
        default:
            do throws(ExtendedJSON.Mistake) {
                return try ExtendedJSON.value(name, value).map { .typed($0) }
            } catch {
                throw Mistake(error, name)
            }
        }
    }

    private static func readable<Read>(_ read: Read?, _ name: String) throws(Mistake) -> Read {
        guard let read else { throw Mistake(.unreadable, name) }
        return read
    }

    /// `{"class","key"}`, or `{"ref"}` for an object made earlier in the same request.
    private static func link(_ value: JSONValue) -> LinkInput? {
        if let stub = value.object, stub.count == 1, let name = stub["ref"]?.string { return .reference(name) }
        return ExtendedJSON.stub(value).map { .stub(className: $0.className, key: .text($0.key)) }
    }
}

extension InputReader.Mistake {
    /// The mistake in the wrapper called `name`.
    init(_ mistake: ExtendedJSON.Mistake, _ name: String) {
        let code: ProblemCode
        switch mistake {
        case .unreadable: code = .typeMismatch
        case .outOfRange: code = .outOfRange
        case .decimalNeedsString: code = .decimalNeedsString
        }
        self.init(code: code, detail: mistake.detail(name))
    }

    /// The problem it is for an input that stands at `root` in the body.
    func problem(at root: InputPath = InputPath()) -> Problem {
        Problem(code, detail).with("pointer", root.description + InputPath(steps).description)
    }
}
