// SPDX-License-Identifier: Apache-2.0

/// What a property of a tracked object holds. Links name objects by their number in the model, so that one which goes
/// takes its links along without being looked for.
package indirect enum WorkloadValue: Sendable {
    /// Anything that is neither a collection nor a link, as the interface writes it; wrappers of Mixed too.
    case plain(JSONValue)
    /// A list, or a set in any order.
    case list([WorkloadValue])
    /// A dictionary or an embedded object.
    case entries([String: WorkloadValue])
    case link(Int)

    package static let null = WorkloadValue.plain(.null)

    package var isNull: Bool {
        if case .plain(.null) = self { return true }
        return false
    }

    package var list: [WorkloadValue]? {
        if case .list(let elements) = self { return elements }
        return nil
    }

    package var entries: [String: WorkloadValue]? {
        if case .entries(let entries) = self { return entries }
        return nil
    }

    package var plain: JSONValue? {
        if case .plain(let json) = self { return json }
        return nil
    }

    package static func integer(_ number: Int64) -> WorkloadValue { .plain(.integer(number)) }
    package static func text(_ text: String) -> WorkloadValue { .plain(.string(text)) }
    package static func real(_ number: Double) -> WorkloadValue { .plain(.number(number, text: "\(number)")) }

    /// A step into collections inside each other.
    package enum Step: Sendable {
        case index(Int)
        case name(String)
    }

    /// The value at a path.
    package subscript(path path: ArraySlice<Step>) -> WorkloadValue? {
        guard let first = path.first else { return self }
        switch (first, self) {
        case (.index(let index), .list(let elements)):
            return elements.indices.contains(index) ? elements[index][path: path.dropFirst()] : nil
        case (.name(let name), .entries(let entries)): return entries[name]?[path: path.dropFirst()]
        default: return nil
        }
    }

    /// Replaces what is at a path.
    package mutating func change(at path: ArraySlice<Step>, _ body: (inout WorkloadValue) -> Void) {
        guard let first = path.first else { return body(&self) }
        switch (first, self) {
        case (.index(let index), .list(var elements)) where elements.indices.contains(index):
            elements[index].change(at: path.dropFirst(), body)
            self = .list(elements)
        case (.name(let name), .entries(var entries)):
            entries[name]?.change(at: path.dropFirst(), body)
            self = .entries(entries)
        default: break
        }
    }
}

extension JSONValue {
    /// The value as JSON text.
    package var json: String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .integer(let number): return "\(number)"
        case .number(_, let text): return text
        case .string(let text): return JSONValue.quoted(text)
        case .array(let elements): return "[" + elements.map(\.json).joined(separator: ",") + "]"
        case .object(let members):
            return "{" + members.map { JSONValue.quoted($0.name) + ":" + $0.value.json }.joined(separator: ",") + "}"
        }
    }

    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// A text that is equal for equal values: members in order of their names, numbers by value.
    package var canonical: String {
        switch self {
        case .number(let number, _): return "\(number)"
        case .array(let elements): return "[" + elements.map(\.canonical).joined(separator: ",") + "]"
        case .object(let members):
            let ordered = members.sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
            return "{" + ordered.map { "\($0.name):\($0.value.canonical)" }.joined(separator: ",") + "}"
        case .string(let text): return "'" + text + "'"
        default: return json
        }
    }

    /// An object with one member.
    package static func wrapper(_ name: String, _ value: JSONValue) -> JSONValue {
        .object([Member(name: name, value: value)])
    }
}
