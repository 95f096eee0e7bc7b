// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A JSON value built in code, whose objects keep the order of their members.
///
/// The API description is made of these values: Swift literals can be written in place of them, and the finished document is
/// written as JSON or as YAML. A value is immutable and may be shared between threads. Whole documents of this kind are held in
/// memory, so the description of a realm with many classes is made one class at a time.
package indirect enum DocumentValue: Sendable, Equatable {
    /// The JSON literal `null`.
    case null
    /// The JSON literal `true` or `false`.
    case bool(Bool)
    /// A whole number, written in decimal digits.
    ///
    /// The description has no other numbers, so there is no case for fractions.
    case int(Int)
    /// A value that is JSON text already, and written as it is.
    case json(String)
    /// A text without quotation marks or escapes; these are added when it is written.
    case string(String)
    /// A list of values, written in this order.
    case array([DocumentValue])
    /// An object, whose members are written in this order.
    ///
    /// Names are not checked: two members of one name are both written, and `subscript(name:)` finds the first.
    case object([Member])

    /// A name with its value, as objects have them.
    package struct Member: Sendable, Equatable {
        /// The name of the member, without quotation marks or escapes.
        package let name: String
        /// The value that the object has under this name.
        package let value: DocumentValue

        /// Creates a member.
        ///
        /// - Parameters:
        ///   - name: The name, without quotation marks or escapes.
        ///   - value: The value that the object has under this name.
        package init(_ name: String, _ value: DocumentValue) {
            self.name = name
            self.value = value
        }
    }

    /// Returns an object that leaves out every member whose value is nil.
    ///
    /// Optional parts of a description, such as a request body that an operation may lack, are written in line this way.
    ///
    /// - Parameter members: The names with their values, in the order of the document.
    /// - Returns: An object with the members that have a value, in the same order.
    package static func members(_ members: (String, DocumentValue?)...) -> DocumentValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// Returns the same object with more members at its end.
    ///
    /// - Parameter more: The members to append. They do not replace earlier members of the same
    ///   name.
    /// - Returns: The longer object; any value that is no object is returned unchanged.
    package func adding(_ more: [Member]) -> DocumentValue {
        guard case .object(let members) = self else { return self }
        return .object(members + more)
    }

    /// Returns the value of a member of an object.
    ///
    /// - Parameter name: The name of the member, compared exactly.
    /// - Returns: The value of the first member of this name; nil when there is none, or when this
    ///   value is no object.
    /// - Complexity: O(n) in the number of members.
    package subscript(name: String) -> DocumentValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

extension DocumentValue {
    /// The text that this value is; nil for another kind.
    package var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var elements: [DocumentValue] {
        if case .array(let elements) = self { return elements }
        return []
    }

    /// The members of this object; none for another kind.
    package var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    /// Returns the same schema with a description at its end.
    ///
    /// - Parameter text: A sentence for readers of the document.
    package func describing(_ text: String) -> DocumentValue { adding([.init("description", .string(text))]) }

    /// Returns the same schema for values that may be null.
    ///
    /// OpenAPI 3.0 ignores members next to a reference, and `nullable` without a type in the same schema, so null is another
    /// schema next to a reference. Generators know it by its only value and make an optional of the two.
    package var orNull: DocumentValue {
        guard self["$ref"] != nil else { return adding([.init("nullable", true)]) }
        return ["anyOf": [self, ["type": "object", "nullable": true, "enum": [.null]]]]
    }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string from a literal in Swift source.
    package init(stringLiteral value: String) { self = .string(value) }
    /// Creates a whole number from a literal in Swift source.
    package init(integerLiteral value: Int) { self = .int(value) }
    /// Creates `true` or `false` from a literal in Swift source.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array from a literal in Swift source.
    package init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
    /// Creates an object from a literal in Swift source; the members keep the order of the literal.
    package init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}

// MARK: - Text

extension DocumentValue {
    /// The value as compact JSON, without spaces or line breaks.
    ///
    /// - Complexity: O(n) in the length of the text, times the depth of the value, because inner
    ///   texts are joined into outer ones.
    package var json: String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return String(number)
        case .json(let text): return text
        case .string(let text): return DocumentValue.quoted(text)
        case .array(let elements): return "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { DocumentValue.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    /// The value as YAML in block style, with two spaces per level and a line break at the end.
    ///
    /// Every string is quoted as JSON quotes it, which YAML reads the same. Empty objects and
    /// arrays are written as `{}` and `[]`. The file `openapi/openapi.yaml` is made this way.
    package var yaml: String { yamlLines(0).joined(separator: "\n") + "\n" }

    /// Returns the lines of this value in block style.
    ///
    /// The first line of an element of an array shares its line with the dash, so its indentation
    /// is replaced by the dash and one space.
    ///
    /// - Parameter depth: The level of indentation, of two spaces each.
    /// - Returns: The lines without line breaks; at least one.
    private func yamlLines(_ depth: Int) -> [String] {
        let indent = String(repeating: "  ", count: depth)
        switch self {
        case .object(let members) where !members.isEmpty:
            return members.flatMap { member -> [String] in
                let name = indent + DocumentValue.plainOrQuoted(member.name) + ":"
                return member.value.isBlock ? [name] + member.value.yamlLines(depth + 1) : ["\(name) \(member.value.json)"]
            }
        case .array(let elements) where !elements.isEmpty:
            return elements.flatMap { element -> [String] in
                guard element.isBlock else { return [indent + "- " + element.json] }
                var lines = element.yamlLines(depth + 1)
                lines[0] = indent + "- " + lines[0].dropFirst(indent.count + 2)
                return lines
            }
        default: return [indent + json]
        }
    }

    /// Whether the value takes separate lines in YAML: a non-empty object or array.
    private var isBlock: Bool {
        switch self {
        case .object(let members): return !members.isEmpty
        case .array(let elements): return !elements.isEmpty
        default: return false
        }
    }

    /// Returns the name of a member as YAML, in quotation marks unless it is certain to be read as text.
    ///
    /// Names of at least four ASCII letters need none. Shorter names such as `on` and `no`, the words `true`, `false` and
    /// `null`, and names with digits or other characters would be read as something else.
    private static func plainOrQuoted(_ name: String) -> String {
        let isPlain = name.count > 3 && name.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a }
        return isPlain && !["true", "false", "null"].contains(name.lowercased()) ? name : quoted(name)
    }

    /// Returns a text as a JSON string: quotation marks, backslashes and control characters are escaped.
    ///
    /// All other characters are written as they are, in UTF-8.
    private static func quoted(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            default:
                if scalar.value < 0x20 {
                    let hex = String(scalar.value, radix: 16)
                    out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        return out + "\""
    }
}
