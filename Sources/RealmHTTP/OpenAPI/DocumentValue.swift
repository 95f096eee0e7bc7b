// SPDX-License-Identifier: Apache-2.0

/// A JSON document whose members keep their order, built in code.
package indirect enum DocumentValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int)
    case string(String)
    case array([DocumentValue])
    case object([Member])

    /// A name with its value.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: DocumentValue

        /// A member.
        package init(_ name: String, _ value: DocumentValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object without the members whose value is nil.
    package static func members(_ members: (String, DocumentValue?)...) -> DocumentValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// The same object with more members at its end; anything else is returned as it is.
    package func adding(_ more: [Member]) -> DocumentValue {
        guard case .object(let members) = self else { return self }
        return .object(members + more)
    }

    /// The value of a member of an object; nil when there is none.
    package subscript(name: String) -> DocumentValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}

extension DocumentValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: DocumentValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, DocumentValue)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}

// MARK: - Text

extension DocumentValue {
    /// Compact JSON.
    package var json: String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return String(number)
        case .string(let text): return DocumentValue.quoted(text)
        case .array(let elements): return "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { DocumentValue.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    /// YAML in block style; every string is quoted as JSON quotes it, which YAML reads the same.
    package var yaml: String { yamlLines(0).joined(separator: "\n") + "\n" }

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

    private var isBlock: Bool {
        switch self {
        case .object(let members): return !members.isEmpty
        case .array(let elements): return !elements.isEmpty
        default: return false
        }
    }

    /// Names of letters only need no quotes; `on`, `no` and numbers would be read as something else.
    private static func plainOrQuoted(_ name: String) -> String {
        let isPlain = name.count > 3 && name.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a }
        return isPlain && !["true", "false", "null"].contains(name.lowercased()) ? name : quoted(name)
    }

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
