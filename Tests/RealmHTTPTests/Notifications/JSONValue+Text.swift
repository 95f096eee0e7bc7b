// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

extension JSONValue {
    /// The value as JSON text.
    var serialized: String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return String(number)
        case .number(_, let text): return text
        case .string(let text): return JSONValue.quoted(text)
        case .array(let elements): return "[" + elements.map(\.serialized).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { JSONValue.quoted($0.name) + ":" + $0.value.serialized }.joined(separator: ",") + "}"
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case let scalar where scalar.value < 0x20: result += "\\u" + String(scalar.value + 0x10000, radix: 16).dropFirst()
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member(name: $0.0, value: $0.1) })
    }

    var isTrue: Bool { self == .bool(true) }
}
