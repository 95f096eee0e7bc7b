// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The key of a section: a value of a key path, or a function of one.
///
/// Two keys are equal when their JSON is equal. So NaN is a key like any other, and zero is one key
/// whatever its sign.
package struct SectionKey: Hashable, Sendable {
    /// The value that the key represents, for writing it in other representations.
    private let value: QueryArgument
    /// The key as JSON in the default representation, by which keys are compared.
    private let json: String

    /// Whether two keys are written as the same JSON.
    package static func == (left: SectionKey, right: SectionKey) -> Bool { left.json == right.json }
    /// Hashes the JSON of the key, by which keys are equal.
    package func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The key of the section of rows without a value.
    static let null = SectionKey(.null)

    /// The length of the key's JSON in bytes, which is charged to the budget of a request.
    var byteCount: Int { json.utf8.count }

    /// Creates the key of a section from a value. A negative zero becomes a positive one.
    init(_ value: QueryArgument) {
        switch value {
        // Zero and negative zero are one section.
        case .double(let number) where number == 0: self.value = .double(0)
        case .float(let number) where number == 0: self.value = .float(0)
        default: self.value = value
        }
        var values = ValueWriter(Representation())
        var writer = JSONWriter()
        SectionKey.write(self.value, &values, to: &writer)
        json = writer.buffer.text
    }

    /// Creates the key of a section from its identity in an observed result.
    init(_ identity: SectionIdentity) {
        value = identity.value
        json = identity.text
    }

    /// What distinguishes the section from others while the result is observed.
    var identity: SectionIdentity { SectionIdentity(json, value: value) }

    /// Writes the key as JSON in the representation of an answer.
    func write(_ values: inout ValueWriter, to writer: inout JSONWriter) { SectionKey.write(value, &values, to: &writer) }

    /// Writes a value, whose bytes are kept alive until it is written.
    private static func write(_ value: QueryArgument, _ values: inout ValueWriter, to writer: inout JSONWriter) {
        var owners: [ByteStorage] = []
        values.write(value.stored(&owners), to: &writer)
        withExtendedLifetime(owners) {}
    }

    /// The key as it is written in a URL, with `@null`, `@empty` and a doubled `@` as in object
    /// keys.
    var text: String {
        switch value {
        case .null: return "@null"
        case .string(""): return "@empty"
        case .string(let text): return text.hasPrefix("@") ? "@" + text : text
        default: return json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : json
        }
    }

    /// Whether the key is the one that a request gives as JSON. A whole number equals the same
    /// number as a double.
    func equals(_ other: JSONValue) -> Bool {
        guard let own = try? JSONParser.parse(json, depthLimit: 64) else { return false }
        if case .real(let left) = own, case .integer(let right) = other { return left == Double(right) }
        return own == other
    }
}
