// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A number that orders most values of one sort key without looking at them again: if two ordinals differ, their
/// values are ordered like them; if they are equal, the values have to be compared.
struct SortOrdinal: Comparable {
    var high: UInt64
    var low: UInt64

    static let lowest = SortOrdinal(high: 0, low: 0)
    static let highest = SortOrdinal(high: .max, low: .max)

    @inline(__always) static func < (left: SortOrdinal, right: SortOrdinal) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// The ordinal in the opposite order.
    var inverted: SortOrdinal { SortOrdinal(high: ~high, low: ~low) }

    /// The ordinal of a value of a property of `type`.
    init(_ value: Value, _ type: ColumnType) {
        if value.isMissing {
            self = .highest
            return
        }
        switch (type, value) {
        case (.int, .int(let number)): self.init(high: SortOrdinal.bits(number), low: 1)
        case (.bool, .bool(let bool)): self.init(high: bool ? 2 : 1, low: 0)
        case (.double, .double(let number)): self = SortOrdinal.ordinal(number)
        case (.float, .float(let number)): self = SortOrdinal.ordinal(Double(number))
        case (.string, .string(let bytes)), (.binary, .binary(let bytes)): self = SortOrdinal.ordinal(bytes)
        case (.timestamp, .timestamp(let date)):
            self.init(high: SortOrdinal.bits(date.seconds), low: SortOrdinal.bits(Int64(date.nanoseconds)) | 1 << 33)
        case (.objectID, .objectID(let id)): self.init(high: id.first, low: UInt64(id.last) << 1 | 1)
        case (.uuid, .uuid(let id)): self.init(high: id.first, low: id.last)
        case (.link, .link(_, let key)): self.init(high: SortOrdinal.bits(key.rawValue), low: 1)
        case (.mixed, _): self.init(high: UInt64(value.typeRank), low: 0)
        default: self = .lowest
        }
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    private static func bits(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

    /// All NaNs share one ordinal, below minus infinity; zero and minus zero share one too.
    private static func ordinal(_ number: Double) -> SortOrdinal {
        if number.isNaN { return SortOrdinal(high: 0, low: 1) }
        let bits = (number == 0 ? 0.0 : number).bitPattern
        return SortOrdinal(high: bits >> 63 == 1 ? ~bits : bits | 1 << 63, low: 2)
    }

    /// The first fifteen bytes and, so that short texts need no second look, the length.
    private static func ordinal(_ bytes: ByteView) -> SortOrdinal {
        let length = UInt64(min(bytes.count, exactByteCount + 1)) + 1
        return SortOrdinal(high: bytes.word(at: 0), low: bytes.word(at: 8) & ~0xff | length)
    }

    /// Texts up to this length are told apart by their ordinals.
    private static let exactByteCount = 15

    /// Are all values equal that share the ordinal of this one?
    static func isExact(_ value: Value, _ type: ColumnType) -> Bool {
        switch (type, value) {
        case (.mixed, _), (.decimal, _): return value.isNull
        case (_, .double(let number)): return !number.isNaN
        case (_, .float(let number)): return !number.isNaN
        case (_, .string(let bytes)), (_, .binary(let bytes)): return bytes.count <= exactByteCount
        // The zero id shares the ordinal of null.
        case (_, .uuid(let id)): return id.first != 0 || id.last != 0
        case (.uuid, .null): return false
        default: return !value.isMissing
        }
    }
}
