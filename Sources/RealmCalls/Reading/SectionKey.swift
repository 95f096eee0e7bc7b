// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The key of a section: a value of a key path, or a function of one.
///
/// Two keys are equal when the values are, as in groups of a result. The key of a mixed value is written with the wrapper of its
/// type, which distinguishes a number and a string with the same digits.
package struct SectionKey: Hashable, Sendable {
    /// The value that the rows of the section have in common.
    private let group: GroupValue

    /// The key of the section of rows without a value.
    package static let null = SectionKey(.null)

    /// About the length of the key in bytes, which is charged to the budget of a request.
    package var byteCount: Int { group.byteCount }

    /// Creates the key of a section from a value. A negative zero becomes a positive one.
    package init(_ value: QueryArgument, isMixed: Bool = false) { group = GroupValue(value, isMixed: isMixed) }

    /// Creates the key of a section from its identity in an observed result.
    package init(_ identity: SectionIdentity) { group = identity.value }

    /// The identity of the section among others while the result is observed.
    package var identity: SectionIdentity { SectionIdentity(group) }

    /// Writes the key as JSON in the representation of a response.
    package func write(_ values: inout ValueWriter, to writer: inout JSONWriter) {
        var owners: [ByteStorage] = []
        let value = group.value.stored(&owners)
        if group.isMixed { values.writeMixed(value, to: &writer) } else { values.write(value, to: &writer) }
        withExtendedLifetime(owners) {}
    }

    // MARK: - Addresses

    /// The quality of a match between a section and a text or a JSON value.
    package enum Fit: Int, Comparable {
        /// It does not name it.
        case none
        /// It names it unless it names another one better.
        case alike
        case exact

        /// Whether the left fit is the worse one.
        package static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    /// Returns how well a name names the section.
    package func fit(_ name: SectionName) -> Fit {
        let isValue = name.json.map(equals) ?? false
        guard let text = name.text else { return isValue ? .exact : .none }
        let isNamed = isKeyText(name)
        // The JSON of a mixed value states its type; a name without JSON is a string. Other columns have one type, so text suffices.
        if group.isMixed, name.json == nil, isText { return isNamed || isEmptyText(text) ? .exact : .none }
        if group.isMixed { return isValue ? .exact : isNamed || isEmptyText(text) ? .alike : .none }
        return isNamed ? .exact : isValue || isEmptyText(text) || equals(text: text) ? .alike : .none
    }

    private func isKeyText(_ name: SectionName) -> Bool {
        isText ? name.keyBytes.map(hasBytes) ?? false : name.text == plainText
    }

    private var isText: Bool {
        switch group.value {
        case .string, .stringBytes: true
        default: false
        }
    }

    /// Whether the key is a text of these bytes.
    private func hasBytes(_ wanted: [UInt8]) -> Bool {
        switch group.value {
        case .string(let text): text.utf8.elementsEqual(wanted)
        case .stringBytes(let bytes): bytes == wanted
        default: false
        }
    }

    /// A key that is no text as it is written in a URL, with `@null` and `@empty`.
    private var plainText: String {
        switch group.value {
        case .null: return "@null"
        case .binary(let data) where data.isEmpty: return "@empty"
        default:
            var values = ValueWriter(Representation())
            var writer = JSONWriter()
            var owners: [ByteStorage] = []
            values.write(group.value.stored(&owners), to: &writer)
            withExtendedLifetime(owners) {}
            let json = writer.buffer.text
            return json.utf8.first == UInt8(ascii: "\"") ? String(json.dropFirst().dropLast()) : json
        }
    }

    /// Whether a text that is empty names this key, which is the empty text or empty data.
    private func isEmptyText(_ text: String) -> Bool {
        guard text.isEmpty else { return false }
        switch group.value {
        case .string(let own): return own.isEmpty
        case .binary(let data): return data.isEmpty
        default: return false
        }
    }

    /// Whether the key is the one that a request gives as JSON. Numbers are compared by value, across types; strings match values
    /// that are written as strings, but not mixed ones.
    private func equals(_ other: JSONValue) -> Bool {
        switch other {
        case .null: return group == GroupValue(.null)
        case .bool(let flag): return group == GroupValue(.bool(flag))
        case .integer(let number): return equals(.int(number))
        case .real(let number): return equals(.double(number))
        case .longInteger(let text), .longReal(let text):
            return (try? NumberText.decimal(text)).flatMap { $0 }.map { equals(.decimal($0)) } ?? false
        case .string(let text): return equals(text: text)
        case .object(let object):
            guard let (name, value) = object.single, let typed = try? ExtendedJSON.value(name, value) else { return false }
            if case .stringBytes(let wanted) = typed { return hasBytes(wanted) }
            return QueryArgument(typed).number.map(equals) ?? (group == GroupValue(QueryArgument(typed), isMixed: group.isMixed))
        case .array: return false
        }
    }

    /// Whether the key is a number that equals another one, or both are no numbers.
    private func equals(_ number: Value) -> Bool {
        guard let own = group.value.number else { return false }
        return own.isNaN && number.isNaN || Value.order(own, number) == 0
    }

    /// Whether the key is the value that the text represents.
    private func equals(text: String) -> Bool {
        if case .string(let own) = group.value { return own == text }
        guard !group.isMixed else { return false }
        switch group.value {
        case .binary(let data): return Base64.decode(text) == data
        case .timestamp(let date): return Timestamp(rfc3339: text) == date
        case .objectID(let id): return ObjectID(text) == id
        case .uuid(let id): return UUIDValue(text) == id
        case .decimal: return (try? NumberText.decimal(text)).flatMap { $0 }.map { equals(.decimal($0)) } ?? false
        case .float, .double: return NumberText.double(text).map { equals(.double($0)) } ?? false
        case .int: return (try? NumberText.integer(text)).flatMap { $0 }.map { equals(.int($0)) } ?? false
        default: return false
        }
    }
}

/// The parsed `section` of a request, read once for all sections that it is compared with.
package struct SectionName: Sendable {
    /// The text of a URL; nil for a member of a body.
    package let text: String?
    /// The value; nil for a text that is no JSON.
    package let json: JSONValue?
    /// The bytes that the text names as texts of URLs name the keys of objects, with `@empty`, a doubled `@` and `@b64.`, which is the
    /// only form for bytes that are not UTF-8; nil for none.
    package let keyBytes: [UInt8]?

    package init(_ wanted: ParameterSet.TextOrJSON) {
        switch wanted {
        case .json(let value):
            text = nil
            json = value
            keyBytes = nil
        case .text(let text):
            self.text = text
            json = try? JSONParser.parse(text, depthLimit: 8)
            keyBytes = KeyText.stringBytes(text)
        }
    }
}
