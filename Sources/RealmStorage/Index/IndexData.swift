// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The byte string under which a search index files a value; null is not the empty string.
///
/// The bytes are consumed in steps of four; each step is one key of a node. The data of a string or
/// binary borrows its bytes from the value. Source: docs/format.md, "Search indexes".
package struct IndexData: Sendable {
    /// The greatest offset in bytes at which a general index has a level; values that are equal so far share a list.
    package static let maximumOffset = 200
    /// Marks the end of the data inside a key of fewer than four bytes.
    static let endMark: UInt8 = 0x58
    /// The key of data that ended with the key before: the end mark and zeros.
    package static let endKey: Int32 = 0x5800_0000

    /// The forms in which the bytes are held.
    private enum Content: Sendable {
        /// Null, which has no bytes.
        case nothing
        /// The bytes of the value itself, which must outlive this.
        case borrowed(ByteView)
        /// Bytes that were made for the index and belong to it.
        case owned([UInt8])
        /// Up to 16 bytes, the first in the lowest bits of the first word.
        case words(UInt64, UInt64, byteCount: Int)
    }

    /// The bytes under which the value is filed, in one of the forms.
    private let content: Content
    /// How many bytes the data has; 0 for null, which the empty string has too.
    package let count: Int

    /// Makes data from its bytes in any form.
    private init(_ content: Content) {
        self.content = content
        switch content {
        case .nothing: count = 0
        case .borrowed(let view): count = view.count
        case .owned(let bytes): count = bytes.count
        case .words(_, _, let byteCount): count = byteCount
        }
    }

    /// The data of a word; nil is null.
    ///
    /// - Parameter bytes: The bytes, which are copied.
    package init(bytes: [UInt8]?) { self.init(bytes.map { .owned($0) } ?? .nothing) }

    /// Makes the data of `value`. Nested collections and links have data too; see the table in
    /// docs/format.md, "Search indexes".
    package init(_ value: Value) {
        switch value {
        case .null: self.init(Content.nothing)
        case .int(let number): self.init(number)
        case .bool(let flag): self.init(flag ? 1 : 0)
        case .string(let bytes), .binary(let bytes): self.init(.borrowed(bytes))
        case .timestamp(let date):
            let nanoseconds = UInt64(UInt32(bitPattern: date.nanoseconds))
            self.init(.words(UInt64(bitPattern: date.seconds), nanoseconds, byteCount: 12))
        case .objectID(let id): self.init(.words(id.first.byteSwapped, UInt64(id.last.byteSwapped), byteCount: 12))
        case .uuid(let id): self.init(.words(id.first.byteSwapped, id.last.byteSwapped, byteCount: 16))
        case .float(let number):
            if let whole = Int32(exactly: number) {
                self.init(Int64(whole))
                return
            }
            self.init(.words(UInt64(number.bitPattern), 0, byteCount: 4))
        case .double(let number):
            if let whole = Int32(exactly: number) {
                self.init(Int64(whole))
                return
            }
            self.init(.words(number.bitPattern, 0, byteCount: 8))
        case .decimal(let number):
            if let whole = number.truncatedInt64 {
                self.init(whole)
                return
            }
            self.init(.words(number.low, number.high, byteCount: 16))
        case .link(let table, let key):
            let bits = UInt64(bitPattern: key.rawValue)
            self.init(.words(UInt64(table.rawValue) | bits << 32, bits >> 32, byteCount: 12))
        case .list: self.init(.owned(IndexData.listText))
        case .dictionary: self.init(.owned(IndexData.dictionaryText))
        }
    }

    /// Returns the first key of the data of an integer.
    @inline(__always) package static func firstKey(of number: Int64) -> Int32 {
        Int32(bitPattern: UInt32(truncatingIfNeeded: number).byteSwapped)
    }

    /// Makes the data of an integer: its eight bytes, the lowest first.
    private init(_ number: Int64) { self.init(.words(UInt64(bitPattern: number), 0, byteCount: 8)) }

    /// The text under which all lists are filed.
    private static let listText = Array("__List__".utf8)
    /// The text under which all dictionaries are filed.
    private static let dictionaryText = Array("__Dictionary__".utf8)

    /// Whether this is the data of null, which differs from that of the empty string.
    package var isNull: Bool {
        if case .nothing = content { return true }
        return false
    }

    /// A copy of the bytes under which the value is filed; nil for null.
    package var bytes: [UInt8]? { isNull ? nil : (0..<count).map { byte($0) } }

    /// Returns a copy of the first bytes, at most `byteCount`; none for null.
    func prefix(_ byteCount: Int) -> [UInt8] { (0..<min(count, byteCount)).map { byte($0) } }

    /// Returns byte `index`, which must be in `0..<count`.
    private func byte(_ index: Int) -> UInt8 {
        switch content {
        case .nothing: return 0
        case .borrowed(let view): return view[index]
        case .owned(let bytes): return bytes[index]
        case .words(let low, let high, _):
            return UInt8(truncatingIfNeeded: (index < 8 ? low : high) >> UInt64((index & 7) << 3))
        }
    }

    /// Returns the key of the data at `offset`, a multiple of four: four bytes big endian, or the
    /// rest of the bytes, the end mark and zeros. It is 0 for null and past the end.
    package func key(at offset: Int) -> Int32 {
        guard offset <= count, !isNull else { return 0 }
        let rest = count - offset
        let key = leadingBytes(at: offset)
        guard rest < 4 else { return Int32(bitPattern: key) }
        return Int32(bitPattern: key | UInt32(IndexData.endMark) << UInt32(24 - 8 * rest))
    }

    /// Returns the four bytes from `offset` on, big endian; bytes after the end are 0.
    private func leadingBytes(at offset: Int) -> UInt32 {
        switch content {
        case .nothing: return 0
        case .borrowed(let view): return UInt32(truncatingIfNeeded: view.word(at: offset) >> 32)
        case .owned(let bytes):
            return (0..<4).reduce(0) { $0 << 8 | (offset + $1 < bytes.count ? UInt32(bytes[offset + $1]) : 0) }
        case .words(let low, let high, _):
            let number = UInt128(high) << 64 | UInt128(low)
            return UInt32(truncatingIfNeeded: number >> UInt128(8 * offset)).byteSwapped
        }
    }
}

/// Equality of data, which is that of its bytes in whatever form they are held.
extension IndexData: Hashable {
    /// Whether two values are filed under the same data.
    package static func == (left: IndexData, right: IndexData) -> Bool {
        guard left.count == right.count, left.isNull == right.isNull else { return false }
        switch (left.content, right.content) {
        case (.words(let low, let high, _), .words(let otherLow, let otherHigh, _)):
            return low == otherLow && high == otherHigh
        case (.borrowed(let view), .borrowed(let other)): return view == other
        case (.owned(let bytes), .owned(let other)): return bytes == other
        default: return (0..<left.count).allSatisfy { left.byte($0) == right.byte($0) }
        }
    }

    /// Feeds the bytes, and whether the data is that of null, to `hasher`.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(isNull)
        for index in 0..<count { hasher.combine(byte(index)) }
    }
}
