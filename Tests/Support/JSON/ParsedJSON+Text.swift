// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

extension ParsedJSON: CustomStringConvertible {
    /// The value as JSON text, without spaces; numbers as they were read.
    package var serialized: String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .number(let text): return text
        case .string(let text): return ParsedJSON.quoted(text)
        case .array(let elements): return "[" + elements.map(\.serialized).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { ParsedJSON.quoted($0.name) + ":" + $0.value.serialized }.joined(separator: ",") + "}"
        }
    }

    package var description: String { serialized }

    /// The contents of a text, and other values as JSON text.
    package var plainText: String { text ?? serialized }

    /// A text as JSON text, with what must be escaped in it and nothing else.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20: quoted += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A text that is equal for equal values only: members in the order of their names, numbers that are no integers by their
    /// value.
    package var canonical: String {
        switch self {
        case .number: return double.map { "\($0)" } ?? serialized
        case .array(let elements): return "[" + elements.map(\.canonical).joined(separator: ",") + "]"
        case .object(let members):
            let ordered = members.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
            return "{" + ordered.map { ParsedJSON.quoted($0.name) + ":" + $0.value.canonical }.joined(separator: ",") + "}"
        default: return serialized
        }
    }

    /// The same with the members of every object in the order of their names.
    package var sortedByName: ParsedJSON {
        switch self {
        case .array(let elements): return .array(elements.map(\.sortedByName))
        case .object(let members):
            let ordered = members.sorted { $0.name < $1.name }
            return .object(ordered.map { Member(name: $0.name, value: $0.value.sortedByName) })
        default: return self
        }
    }
}
