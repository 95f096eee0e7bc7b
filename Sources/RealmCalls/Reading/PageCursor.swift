// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
package import RealmQuery
package import RealmStorage

/// The position at which a page ended: the sort values and the object key of its last row.
///
/// A cursor is sent to the client as the text of `after` for the next page. The server keeps nothing for it, so it survives
/// commits and restarts: the next page begins with the first row that sorts after the position, even when that row was deleted.
/// Values that are too long for a cursor are read from the object again, which must still exist with the same values: their
/// digest is compared.
///
/// The text carries a checksum over its bytes and the identity of its query, so that a text from another query is refused. The
/// checksum prevents errors, not forgery: a forged position only selects another row to begin at.
package struct PageCursor: Sendable {
    /// The sort values and the key of the row after which the next page begins.
    package let position: PagePosition
    /// The digest of the sort values, which `position` then lacks; nil when it has them.
    package let digest: [UInt8]?

    /// Creates a cursor for the page after `position`.
    package init(_ position: PagePosition) {
        self.position = position
        digest = nil
    }

    /// Creates a cursor for a position in a collection, which has an index in the place of an object key.
    package init(index: Int) { self.init(PagePosition(cells: [], key: ObjectKey(Int64(index)))) }

    /// Creates a cursor for the page after an object.
    ///
    /// - Parameters:
    ///   - values: The values by which it is sorted. They are copied if they are short.
    package init(after key: ObjectKey, sortedBy values: [Value]) {
        let isShort = values.reduce(0) { $0 + $1.byteCount } <= PageCursor.valueByteLimit
        position = PagePosition(cells: isShort ? values.map { .init(copying: $0) } : [], key: key)
        digest = isShort ? nil : PageCursor.digest(of: values, key)
    }

    /// The most bytes of texts and data in a cursor, so that the address of the next page stays short enough for a request.
    package static let valueByteLimit = 1024

    /// The first byte of every cursor with sort values. Cursors of another format are refused.
    private static let formatVersion: UInt8 = 1
    /// The first byte of a cursor with a digest in the place of the values.
    private static let digestVersion: UInt8 = 2

    /// Returns the opaque text that clients send back.
    ///
    /// - Parameter identity: A hash of everything that decides the order of rows: class, predicate,
    ///   arguments and sort.
    package func text(identity: UInt64) -> String {
        var bytes: [UInt8] = [digest == nil ? PageCursor.formatVersion : PageCursor.digestVersion]
        bytes.append(word: UInt64(bitPattern: position.key.rawValue))
        if let digest {
            bytes += digest
        } else {
            bytes.append(UInt8(clamping: position.cells.count))
            for cell in position.cells { cell.append(to: &bytes) }
        }
        bytes.append(word: PageCursor.checksum(bytes, identity))
        return "b64." + Base64.encode(bytes, .url)
    }

    /// Reads the text of a cursor.
    ///
    /// - Parameters:
    ///   - text: The value of `after`.
    ///   - identity: The identity of the query that the cursor has to belong to.
    /// - Throws: `cursor_invalid` for a text that is damaged, has another format, or belongs to
    ///   another query.
    package init(_ text: String, identity: UInt64) throws(Problem) {
        guard text.utf8.starts(with: "b64.".utf8), let bytes = Base64.decode(text.dropFirst(4), .url), bytes.count >= 18
        else { throw PageCursor.invalid }
        let body = bytes.dropLast(8)
        var tail = ByteReader(bytes.suffix(8))
        guard tail.word() == PageCursor.checksum(Array(body), identity) else { throw PageCursor.invalid }
        try self.init(body: body)
    }

    /// Reads the bytes over which the checksum is made: the format version, the object key, and the
    /// sort values or their digest.
    package init(body: ArraySlice<UInt8>) throws(Problem) {
        var reader = ByteReader(body.dropFirst())
        guard let version = body.first, let key = reader.word() else { throw PageCursor.invalid }
        var cells: [PagePosition.Cell] = []
        switch version {
        case PageCursor.formatVersion:
            guard let count = reader.byte() else { throw PageCursor.invalid }
            for _ in 0..<count {
                guard let cell = PagePosition.Cell(&reader) else { throw PageCursor.invalid }
                cells.append(cell)
            }
            guard reader.isAtEnd else { throw PageCursor.invalid }
            digest = nil
        case PageCursor.digestVersion:
            digest = Array(body.dropFirst(9))
            guard digest?.count == ObjectDigest.textByteCount else { throw PageCursor.invalid }
        default: throw PageCursor.invalid
        }
        position = PagePosition(cells: cells, key: ObjectKey(Int64(bitPattern: key)))
    }

    /// Returns the digest of the values by which an object is sorted.
    package static func digest(of values: [Value], _ key: ObjectKey) -> [UInt8] {
        var digest = ObjectDigest(of: key)
        for value in values {
            digest.add(UInt64(truncatingIfNeeded: value.typeRank))
            digest.addScalar(value)
            guard case .link(let table, let target) = value else { continue }
            digest.add(UInt64(table.rawValue))
            digest.add(UInt64(bitPattern: target.rawValue))
        }
        let text = OutputBuffer(capacity: ObjectDigest.textByteCount)
        digest.appendText(to: text)
        return text.array
    }

    /// Returns the hash of a cursor's bytes; the identity of the query is its seed.
    private static func checksum(_ bytes: [UInt8], _ identity: UInt64) -> UInt64 {
        var hash = StableHash(seed: identity)
        hash.add(bytes)
        return hash.value
    }

    /// The problem of every cursor that cannot be used. It does not say why, because a client can only start again.
    private static let invalid = Problem(
        .cursorInvalid, "the cursor is damaged, or belongs to another query or sort"
    ).with("parameter", "after")

    /// The problem of a cursor without its long values, after these have changed, so that where the next page begins is unknown.
    package static let stale = Problem(
        .cursorInvalid,
        "the object at which the page before ended was deleted, or the long values by which it is sorted have changed; begin again, "
            + "or read the pages from a snapshot"
    ).with("parameter", "after")
}

// MARK: - Bytes

/// Writes and reads the binary form that a sort value has inside a cursor.
extension PagePosition.Cell {
    /// Appends the value in binary form: a tag byte, and the payload of the type.
    fileprivate func append(to bytes: inout [UInt8]) {
        if case .dictionary = self { return bytes.append(14) }
        guard case .value(let value) = self else { return bytes.append(255) }
        switch value {
        case .null, .object, .shape, .objectKey: bytes.append(0)
        case .int(let number): bytes.append(tag: 1, UInt64(bitPattern: number))
        case .bool(let flag): bytes.append(flag ? 3 : 2)
        case .float(let number): bytes.append(tag: 4, UInt64(number.bitPattern))
        case .double(let number): bytes.append(tag: 5, number.bitPattern)
        case .string(let text), .text(let text): bytes.append(tag: 6, Array(text.utf8))
        case .binary(let data): bytes.append(tag: 7, data)
        case .stringBytes(let text): bytes.append(tag: 15, text)
        case .timestamp(let date):
            bytes.append(tag: 8, UInt64(bitPattern: date.seconds))
            bytes.append(word: UInt64(bitPattern: Int64(date.nanoseconds)))
        case .decimal(let number):
            bytes.append(tag: 9, number.low)
            bytes.append(word: number.high)
        case .objectID(let id):
            bytes.append(tag: 10, id.first)
            bytes.append(word: UInt64(id.last))
        case .uuid(let id):
            bytes.append(tag: 11, id.first)
            bytes.append(word: id.last)
        case .link(let table, let key):
            bytes.append(tag: 12, UInt64(table.rawValue))
            bytes.append(word: UInt64(bitPattern: key.rawValue))
        case .list: bytes.append(13)
        }
    }

    /// Reads a value in the form that `append` writes; nil when it is damaged.
    fileprivate init?(_ reader: inout ByteReader) {
        guard let tag = reader.byte() else { return nil }
        switch tag {
        case 255: self = .missing
        case 0: self = .value(.null)
        case 2, 3: self = .value(.bool(tag == 3))
        case 6, 7, 15:
            guard let bytes = reader.bytes() else { return nil }
            self = .value(
                tag == 6 ? .string(String(decoding: bytes, as: UTF8.self)) : tag == 7 ? .binary(bytes) : .stringBytes(bytes))
        case 1, 4, 5:
            guard let word = reader.word() else { return nil }
            self = .value(
                tag == 1
                    ? .int(Int64(bitPattern: word))
                    : tag == 5 ? .double(Double(bitPattern: word)) : .float(Float(bitPattern: UInt32(truncatingIfNeeded: word))))
        case 8...12:
            guard let first = reader.word(), let second = reader.word() else { return nil }
            self = .value(QueryArgument(pair: tag, first, second))
        case 13: self = .value(.list([]))
        case 14: self = .dictionary
        default: return nil
        }
    }
}

/// Reads the values whose binary form has two words.
extension QueryArgument {
    /// Makes a value of two words, for the types that have two.
    ///
    /// - Parameters:
    ///   - tag: The type: 8 is a date, 9 a decimal, 10 an ObjectId, 11 a UUID, 12 a link.
    ///   - first: The first word as it was appended.
    ///   - second: The second word.
    fileprivate init(pair tag: UInt8, _ first: UInt64, _ second: UInt64) {
        switch tag {
        case 8:
            self = .timestamp(
                Timestamp(seconds: Int64(bitPattern: first), nanoseconds: Int32(truncatingIfNeeded: Int64(bitPattern: second))))
        case 9: self = .decimal(Decimal128(low: first, high: second))
        case 10: self = .objectID(ObjectID(first: first, last: UInt32(truncatingIfNeeded: second)))
        case 11: self = .uuid(UUIDValue(first: first, last: second))
        default: self = .link(TableKey(UInt32(truncatingIfNeeded: first)), ObjectKey(Int64(bitPattern: second)))
        }
    }
}

/// Appends the parts of a cursor to its bytes.
extension [UInt8] {
    /// Appends eight bytes, the least significant byte first.
    fileprivate mutating func append(word: UInt64) {
        for step in 0..<8 { append(UInt8(truncatingIfNeeded: word >> UInt64(step * 8))) }
    }

    /// Appends the tag of a type and a word.
    fileprivate mutating func append(tag: UInt8, _ word: UInt64) {
        append(tag)
        append(word: word)
    }

    /// Appends the tag of a type, the number of bytes as a word, and the bytes.
    fileprivate mutating func append(tag: UInt8, _ bytes: [UInt8]) {
        append(tag)
        append(word: UInt64(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Reads fixed parts off the front of some bytes: the inverse of how a `PageCursor` is written.
///
/// Every function returns nil when the bytes do not suffice, because they come from a client.
private struct ByteReader {
    /// The bytes of the cursor that were not read yet.
    private var rest: ArraySlice<UInt8>

    /// Creates a reader at the beginning of `bytes`.
    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes were read, so that nothing follows the last part.
    var isAtEnd: Bool { rest.isEmpty }

    /// Reads the next byte; nil at the end.
    mutating func byte() -> UInt8? { rest.popFirst() }

    /// Reads eight bytes as a number, the least significant byte first; nil when there are fewer.
    mutating func word() -> UInt64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads bytes that have their count, a word, in front; nil when they are not all there.
    mutating func bytes() -> [UInt8]? {
        guard let count = word(), count <= UInt64(rest.count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }
}
