// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The text of a configuration file, read as YAML, with the lines of its values.
///
/// Scalars have the types of YAML's core schema, which are those of JSON: `null`, `true`, `false`,
/// numbers, and otherwise text. Words such as `yes` are text.
struct ConfigurationText {
    /// The whole file; an empty file is an empty object.
    let json: JSONValue
    /// The line of each value, from 1, by the JSON Pointer to it.
    private(set) var lines: [ByteText: Int] = [:]

    /// The number of values that a file may have, counting each use of an alias.
    private static let valueLimit = 100_000
    /// The depth to which values may be nested.
    private static let depthLimit = 32

    /// Reads a text.
    ///
    /// - Parameter text: The contents of the file.
    /// - Throws: `ConfigurationError` without the name of the file, for text that is not YAML, has a
    ///   key twice, or has too many values.
    init(_ text: String) throws(ConfigurationError) {
        guard let root = try YAMLNode.read(text) else {
            json = .object(JSONObject([]))
            return
        }
        var reader = Reader()
        json = try reader.value(root, InputPlace(), depth: 0)
        lines = reader.lines
    }

    /// Returns the line of the value at a place, or of the innermost one around it that is known.
    func line(of pointer: String) -> Int? {
        var pointer = pointer[...]
        while true {
            if let line = lines[String(pointer)] { return line }
            guard let slash = pointer.lastIndex(of: "/") else { return nil }
            pointer = pointer[..<slash]
        }
    }

    /// Gives a place the line of another one, under whose name a file states it.
    mutating func setLine(of pointer: String, as other: String) { lines[pointer] = line(of: other) }

    /// Converts nodes of YAML to JSON values, and notes their lines.
    private struct Reader {
        /// The lines by the JSON Pointer.
        var lines: [ByteText: Int] = [:]
        /// The number of converted values.
        private var count = 0

        /// Converts a node and all inside of it.
        mutating func value(_ node: YAMLNode, _ place: InputPlace, depth: Int) throws(ConfigurationError) -> JSONValue {
            count += 1
            lines[place.pointer] = lines[place.pointer] ?? node.line
            guard count <= valueLimit, depth <= depthLimit else {
                throw ConfigurationError(line: node.line, text: "there are too many values, or values inside of values")
            }
            switch node.content {
            case .scalar(let text, let isPlain): return isPlain ? Reader.scalar(text) : .string(text)
            case .list(let nodes):
                var list: [JSONValue] = []
                for (index, one) in nodes.enumerated() {
                    list.append(try value(one, place.inside(index), depth: depth + 1))
                }
                return .array(list)
            case .object(let pairs):
                var members: [(name: String, value: JSONValue)] = []
                for (key, one) in pairs {
                    guard let name = key.text else { throw ConfigurationError(line: key.line, text: "a name must be text") }
                    let inner = place.inside(name)
                    // An error in a member is reported where its name stands.
                    lines[inner.pointer] = key.line
                    members.append((name, try value(one, inner, depth: depth + 1)))
                }
                return .object(JSONObject(members))
            }
        }

        /// Converts a scalar without quotes by the rules of YAML's core schema.
        private static func scalar(_ text: String) -> JSONValue {
            switch text {
            case "", "~", "null": return .null
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: break
            }
            if let number = Int64(text), text.first != "+" { return .integer(number) }
            let hasDigits = text.utf8.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            if hasDigits, text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let number = Double(text) {
                return .real(number)
            }
            return .string(text)
        }
    }
}
