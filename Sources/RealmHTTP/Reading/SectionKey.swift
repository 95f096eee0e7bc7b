// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// The key of a section: a value of a key path, or a function of it. Equal keys are those that are written alike.
package struct SectionKey: Hashable, Sendable {
    private let value: QueryArgument
    /// The key as default JSON.
    private let json: String

    package static func == (left: SectionKey, right: SectionKey) -> Bool { left.json == right.json }
    package func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The key of the section of objects that have no value.
    static let null = SectionKey(.null)

    /// How long the key is when it is written.
    var byteCount: Int { json.utf8.count }

    /// The key of a section with this value.
    init(_ value: QueryArgument) {
        switch value {
        // Zero has two signs, and both are one section.
        case .double(let number) where number == 0: self.value = .double(0)
        case .float(let number) where number == 0: self.value = .float(0)
        default: self.value = value
        }
        var values = ValueWriter(Representation())
        var writer = JSONWriter()
        SectionKey.write(self.value, &values, to: &writer)
        json = writer.buffer.text
    }

    /// The key of a section that is observed.
    init(_ identity: SectionIdentity) {
        value = identity.value
        json = identity.text
    }

    /// What tells the section from others while it is observed.
    var identity: SectionIdentity { SectionIdentity(json, value: value) }

    func write(_ values: inout ValueWriter, to writer: inout JSONWriter) { SectionKey.write(value, &values, to: &writer) }

    private static func write(_ value: QueryArgument, _ values: inout ValueWriter, to writer: inout JSONWriter) {
        var owners: [ByteStorage] = []
        values.write(value.stored(&owners), to: &writer)
        withExtendedLifetime(owners) {}
    }

    /// The key as it is written in a URL.
    var text: String {
        switch value {
        case .null: return "@null"
        case .string(""): return "@empty"
        case .string(let text): return text.hasPrefix("@") ? "@" + text : text
        default: return json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : json
        }
    }

    /// Whether the key is written as `other`.
    func equals(_ other: JSONValue) -> Bool {
        guard let own = try? JSONParser.parse(json, depthLimit: 64) else { return false }
        if case .real(let left) = own, case .integer(let right) = other { return left == Double(right) }
        return own == other
    }
}
