// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// Text that selects an element of a collection by its value.
///
/// It has the form of a key: `@null`, `@empty` and a doubled `@` represent null, the empty string and a leading `@`. Other types
/// have the form that they have in bodies, without quotes. In a collection of mixed values the text matches every value that is
/// written like it.
package struct ElementText: Sendable {
    /// The values that the text can represent; more than one among mixed values only.
    private let candidates: [OwnedValue]

    /// Reads a text as an element of a collection.
    ///
    /// - Parameters:
    ///   - text: The text after percent-decoding.
    ///   - column: The collection, whose elements are not links.
    /// - Returns: Nil when no value of the type is written in this way.
    package init?(_ text: String, of column: Column) {
        if text == "@null" {
            candidates = [OwnedValue(.null)]
        } else if column.type == .mixed {
            candidates = ElementText.types.compactMap { ElementText.value(text, $0) }
        } else {
            candidates = ElementText.value(text, column.type).map { [$0] } ?? []
        }
        if candidates.isEmpty { return nil }
    }

    /// Whether the text represents a value. Numbers are equal as in queries, across types.
    package func matches(_ value: Value) -> Bool {
        candidates.contains { candidate in candidate.use { Value.order($0, value) == 0 } }
    }

    /// The types that a mixed value can have and whose texts differ.
    private static let types: [ColumnType] = [
        .string, .int, .bool, .double, .decimal, .timestamp, .objectID, .uuid, .binary,
    ]

    /// Parses the text as a value of a type; nil for none.
    private static func value(_ text: String, _ type: ColumnType) -> OwnedValue? {
        switch type {
        case .string: return KeyText.stringBytes(text).map { .string($0) }
        case .bool: return text == "true" ? OwnedValue(.bool(true)) : text == "false" ? OwnedValue(.bool(false)) : nil
        case .binary where text == "@empty": return .binary([])
        case .double: return NumberText.double(text).map { OwnedValue(.double($0)) }
        case .float: return NumberText.double(text).map { OwnedValue(.float(Float($0))) }
        case .link, .backlink, .mixed: return nil
        default: return try? ValueReader.read(.text(text), as: type, isNullable: false)
        }
    }
}
