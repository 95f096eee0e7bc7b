// SPDX-License-Identifier: Apache-2.0

/// Seconds since 1970-01-01 UTC and nanoseconds of the same sign, |nanoseconds| < 10^9.
///
/// Half a second before the epoch is (0, -500000000). Source: docs/format.md, "Timestamp".
package struct Timestamp: Hashable, Comparable, Sendable {
    package var seconds: Int64
    package var nanoseconds: Int32

    @inlinable package init(seconds: Int64, nanoseconds: Int32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    @inlinable package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.seconds != right.seconds ? left.seconds < right.seconds : left.nanoseconds < right.nanoseconds
    }
}

/// An IEEE 754-2008 decimal in the binary-integer encoding, as two 64-bit words.
///
/// `==` and `hash` of this type compare the *bits*; numeric comparison is `Decimal128.compare`.
package struct Decimal128: Hashable, Sendable {
    package var low: UInt64
    package var high: UInt64

    @inlinable package init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// The NaN that the format uses for null.
    package static let null = Decimal128(low: 0xaa, high: 0x7c00_0000_0000_0000)
    package static let zero = Decimal128(low: 0, high: 0x3040_0000_0000_0000)

    @inlinable package var isNull: Bool { low == 0xaa && high == 0x7c00_0000_0000_0000 }
}

/// Twelve bytes in the order of the usual hex text: `first` holds bytes 0 to 7 big endian, `last` bytes 8 to 11.
package struct ObjectID: Hashable, Comparable, Sendable {
    package let first: UInt64
    package let last: UInt32

    @inlinable package init(first: UInt64, last: UInt32) {
        self.first = first
        self.last = last
    }

    @inlinable package static func < (left: ObjectID, right: ObjectID) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}

/// Sixteen bytes in the order of the usual hex text, as two big-endian words.
package struct UUIDValue: Hashable, Comparable, Sendable {
    package let first: UInt64
    package let last: UInt64

    @inlinable package init(first: UInt64, last: UInt64) {
        self.first = first
        self.last = last
    }

    @inlinable package static func < (left: UUIDValue, right: UUIDValue) -> Bool {
        left.first != right.first ? left.first < right.first : left.last < right.last
    }
}

/// One value of a property, a collection element or a Mixed.
///
/// Strings and binaries are borrowed (`ByteView`); a value is valid as long as the snapshot or the
/// constant it came from. A collection nested in Mixed is named by the ref of its root, `Ref.none` when empty.
package enum Value: Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(ByteView)
    case binary(ByteView)
    case timestamp(Timestamp)
    case decimal(Decimal128)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    /// A link with its table: what a link property, a list of links or a Mixed holds. Never unresolved.
    case link(TableKey, ObjectKey)
    /// A list nested in Mixed.
    case list(Ref)
    /// A dictionary nested in Mixed.
    case dictionary(Ref)

    @inlinable package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension Value {
    /// The name of the value's type in dumps and messages.
    package var typeName: String {
        switch self {
        case .null: return "null"
        case .int: return ColumnType.int.name
        case .bool: return ColumnType.bool.name
        case .float: return ColumnType.float.name
        case .double: return ColumnType.double.name
        case .string: return ColumnType.string.name
        case .binary: return ColumnType.binary.name
        case .timestamp: return ColumnType.timestamp.name
        case .decimal: return ColumnType.decimal.name
        case .objectID: return ColumnType.objectID.name
        case .uuid: return ColumnType.uuid.name
        case .link: return ColumnType.link.name
        case .list: return "list"
        case .dictionary: return "dictionary"
        }
    }
}

extension Value {
    /// The bytes of a string or of data; 0 for what has a fixed size.
    @inline(__always) package var byteCount: Int {
        switch self {
        case .string(let bytes), .binary(let bytes): return bytes.count
        default: return 0
        }
    }
}
