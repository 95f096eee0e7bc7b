// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Stored values in the JSON of the HTTP interface. A callback writes the targets of links. Source: docs/api.md, "Values".
struct ValueText {
    /// Writes the target of a link: the key of the table, that of the object, the number of objects around the link.
    let link: (UInt32, Int64, Int, inout [UInt8]) throws(Loss) -> Void

    /// The most collections around a value.
    private static let maximumDepth = 64
    private static let maximumByteCount = 1 << 28

    /// Returns the value of a column as JSON.
    ///
    /// - Parameters:
    ///   - depth: The number of objects around it.
    func json(_ value: StoredValue, of column: FormerColumn, depth: Int) throws(Loss) -> [UInt8] {
        var text: [UInt8] = []
        let isTagged = column.kind == .mixed
        switch value {
        case .list(let elements) where column.isCollection:
            // Links to objects that are gone are no elements.
            try list(elements.filter { column.kind != .link || !ValueText.isUnresolved($0) }, isTagged: isTagged, 0, depth, &text)
        case .dictionary(let entries) where column.isCollection: try dictionary(entries, isTagged: isTagged, 0, depth, &text)
        default: try write(value, isTagged: isTagged, 0, depth, &text)
        }
        return text
    }

    /// Whether a value is a link whose target is a tombstone.
    private static func isUnresolved(_ value: StoredValue) -> Bool {
        if case .link(_, let key) = value { return key <= -2 }
        return false
    }

    /// Writes elements as an array.
    private func list(
        _ elements: [StoredValue], isTagged: Bool, _ level: Int, _ depth: Int, _ text: inout [UInt8]
    ) throws(Loss) {
        text.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            try write(element, isTagged: isTagged, level, depth, &text)
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Writes entries as an object.
    private func dictionary(
        _ entries: [(key: StoredValue, value: StoredValue)], isTagged: Bool, _ level: Int, _ depth: Int, _ text: inout [UInt8]
    ) throws(Loss) {
        text.append(UInt8(ascii: "{"))
        for (index, entry) in entries.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            switch entry.key {
            case .text(let bytes): text.append(string: bytes.string)
            case .int(let number): text.append(string: String(number))
            default: throw .malformed("type of a key")
            }
            text.append(UInt8(ascii: ":"))
            try write(entry.value, isTagged: isTagged, level, depth, &text)
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Writes a value; inside of Mixed with a wrapper where JSON does not show the type.
    private func write(_ value: StoredValue, isTagged: Bool, _ level: Int, _ depth: Int, _ text: inout [UInt8]) throws(Loss) {
        guard level <= ValueText.maximumDepth else { throw .malformed("nested too deeply") }
        guard text.count <= ValueText.maximumByteCount else { throw .malformed("too long") }
        switch value {
        case .null: text.append(json: "null")
        case .int(let number): text.append(digitsOf: number)
        case .bool(let flag): text.append(json: flag ? "true" : "false")
        case .text(let bytes): text.append(text: bytes)
        case .data(let bytes):
            if isTagged { text.append(json: "{\"$binary\":{\"base64\":") }
            text.append(base64: bytes)
            if isTagged { text.append(json: ",\"subType\":\"00\"}}") }
        case .timestamp(let date): ValueText.write(date, isTagged: isTagged, &text)
        case .float(let bits):
            let number = Float(bitPattern: bits)
            if isTagged { text.append(json: "{\"$numberFloat\":") }
            ValueText.write(number.isFinite, number.isNaN, number.sign == .minus, isQuoted: isTagged, &text) {
                $0.append(shortest: number)
            }
            if isTagged { text.append(UInt8(ascii: "}")) }
        case .double(let bits):
            let number = Double(bitPattern: bits)
            let isWrapped = isTagged && !number.isFinite
            if isWrapped { text.append(json: "{\"$numberDouble\":") }
            ValueText.write(number.isFinite, number.isNaN, number.sign == .minus, isQuoted: false, &text) {
                $0.append(shortest: number)
            }
            if isWrapped { text.append(UInt8(ascii: "}")) }
        case .decimal(let number):
            if isTagged { text.append(json: "{\"$numberDecimal\":") }
            text.append(UInt8(ascii: "\""))
            number.append(to: &text)
            text.append(UInt8(ascii: "\""))
            if isTagged { text.append(UInt8(ascii: "}")) }
        case .objectID(let bytes):
            if isTagged { text.append(json: "{\"$oid\":") }
            text.append(string: ObjectID(bytes: bytes)?.description ?? "")
            if isTagged { text.append(UInt8(ascii: "}")) }
        case .uuid(let bytes):
            if isTagged {
                text.append(json: "{\"$binary\":{\"base64\":")
                text.append(base64: bytes)
                text.append(json: ",\"subType\":\"04\"}}")
            } else {
                text.append(string: UUIDValue(bytes: bytes)?.description ?? "")
            }
        case .link(let table, let key):
            guard key > -2 else { return text.append(json: "null") }
            guard let table else { throw .malformed("link to a table that is not known") }
            try link(table, key, depth, &text)
        case .list(let elements): try list(elements, isTagged: true, level + 1, depth, &text)
        case .dictionary(let entries): try dictionary(entries, isTagged: true, level + 1, depth, &text)
        }
    }

    /// Writes a date as RFC 3339 text, or outside the years 0001 to 9999 as seconds and nanoseconds.
    private static func write(_ date: Timestamp, isTagged: Bool, _ text: inout [UInt8]) {
        guard DateWriter.canWrite(date) else {
            text.append(json: "{\"$instant\":{\"seconds\":")
            text.append(string: String(date.seconds))
            text.append(json: ",\"nanoseconds\":")
            text.append(digitsOf: Int64(date.nanoseconds))
            return text.append(json: "}}")
        }
        if isTagged { text.append(json: "{\"$date\":") }
        text.append(UInt8(ascii: "\""))
        _ = date.appendRFC3339(to: &text)
        text.append(UInt8(ascii: "\""))
        if isTagged { text.append(UInt8(ascii: "}")) }
    }

    /// Writes a floating-point number, or its name where it is not finite.
    private static func write(
        _ isFinite: Bool, _ isNaN: Bool, _ isNegative: Bool, isQuoted: Bool, _ text: inout [UInt8],
        _ body: (inout [UInt8]) -> Void
    ) {
        guard isFinite else { return text.append(json: isNaN ? "\"NaN\"" : isNegative ? "\"-Infinity\"" : "\"Infinity\"") }
        if isQuoted { text.append(UInt8(ascii: "\"")) }
        body(&text)
        if isQuoted { text.append(UInt8(ascii: "\"")) }
    }

    /// Returns the key of an object as the HTTP interface writes it; nil for a value that is no key.
    static func key(_ value: StoredValue) -> String? {
        switch value {
        case .null: return "@null"
        case .int(let number): return String(number)
        case .text(let bytes):
            let text = bytes.string
            return text.isEmpty ? "@empty" : text.hasPrefix("@") ? "@" + text : text
        case .objectID(let bytes): return ObjectID(bytes: bytes)?.description
        case .uuid(let bytes): return UUIDValue(bytes: bytes)?.description
        default: return nil
        }
    }
}
