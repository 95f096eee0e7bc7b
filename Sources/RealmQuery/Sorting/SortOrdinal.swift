// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A number that orders most values of a sort key without reading them again.
///
/// If two ordinals differ, their values are ordered like them; if they are equal, the values have
/// to be compared, unless they are exact.
struct SortOrdinal: Comparable {
    /// The more significant 64 bits of the ordinal.
    var high: UInt64
    /// The less significant 64 bits of the ordinal.
    var low: UInt64

    /// The ordinal of null, and of values whose type has no ordinals.
    static let lowest = SortOrdinal(high: 0, low: 0)
    /// The ordinal of a value that is missing because a link on the way is null.
    static let highest = SortOrdinal(high: .max, low: .max)

    /// Compares two ordinals as unsigned numbers of 128 bits.
    @inline(__always) static func < (left: SortOrdinal, right: SortOrdinal) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    /// The ordinal in the opposite order, for a descending key.
    var inverted: SortOrdinal { SortOrdinal(high: ~high, low: ~low) }

    /// Makes the ordinal of a value.
    ///
    /// - Parameters:
    ///   - value: The value, which may be null or missing.
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

    /// Creates an ordinal from its two halves of 64 bits.
    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The bits of a signed integer, changed so that unsigned order is its order.
    private static func bits(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) ^ 1 << 63 }

    /// The ordinal of a number. All NaNs share one ordinal, below that of minus infinity; zero and minus zero share one, too.
    private static func ordinal(_ number: Double) -> SortOrdinal {
        if number.isNaN { return SortOrdinal(high: 0, low: 1) }
        let bits = (number == 0 ? 0.0 : number).bitPattern
        return SortOrdinal(high: bits >> 63 == 1 ? ~bits : bits | 1 << 63, low: 2)
    }

    /// The ordinal of a text: its first fifteen bytes and, so that short texts need not be compared again, its length.
    private static func ordinal(_ bytes: ByteView) -> SortOrdinal {
        let length = UInt64(min(bytes.count, exactByteCount + 1)) + 1
        return SortOrdinal(high: bytes.word(at: 0), low: bytes.word(at: 8) & ~0xff | length)
    }

    /// The length in bytes up to which texts are distinguished by their ordinals alone.
    private static let exactByteCount = 15

    /// Whether all values are equal that share the ordinal of this one, so that they need not be compared again.
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
