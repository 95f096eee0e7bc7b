// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The value of one column of one row.
enum RelationalCell {
    /// A value of the realm, or null. It is valid as long as the version is held.
    case value(Value)
    /// A number that the export counts: a position, or the key of an embedded object.
    case number(Int64)
    /// A text that the export makes: the key of an object or of an entry.
    case text(String)
    /// The JSON of a value of Mixed.
    case json([UInt8])

    /// The length of a text, of JSON or of bytes, before a database has its form of them.
    var byteCount: Int {
        switch self {
        case .value(let value): return value.byteCount
        case .number: return 8
        case .text(let text): return text.utf8.count
        case .json(let bytes): return bytes.count
        }
    }

    /// Nothing.
    static let null = RelationalCell.value(.null)
}

/// Takes the rows of an export, in any order of the tables.
protocol RelationalSink: AnyObject {
    /// Adds a row.
    ///
    /// - Parameters:
    ///   - cells: The values of the columns, in their order.
    ///   - table: The position of the table in the schema.
    /// - Throws: An error of storage, or the problem of a full disk.
    func add(_ cells: [RelationalCell], to table: Int) throws
}

/// Long texts, of which a table takes one piece after the other, or the first one only.
extension ByteView {
    /// Returns a piece of a text, which splits no character.
    ///
    /// - Parameters:
    ///   - position: The start of the piece.
    ///   - byteCount: The greatest length of the piece, at least 4.
    /// - Returns: The piece, which has less than three bytes fewer than `byteCount` unless it is the last one.
    func piece(from position: Int, byteCount: Int) -> ByteView {
        let end = position + byteCount
        guard end < count else { return suffix(from: position) }
        // A character has at most three bytes after its first one.
        let first = stride(from: end, to: max(position, end - 4), by: -1).first { self[$0] & 0xc0 != 0x80 }
        return slice(position, first ?? end)
    }
}

extension Timestamp {
    /// The date as text: RFC 3339, or for years that it cannot express, the JSON of the instant.
    package var text: String {
        rfc3339 ?? "{\"$instant\":{\"seconds\":\"\(seconds)\",\"nanoseconds\":\(nanoseconds)}}"
    }
}
