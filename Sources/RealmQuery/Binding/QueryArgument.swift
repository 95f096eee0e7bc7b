// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A value that is passed for `$n`, or a copy of a stored value in a page position. It borrows nothing.
package indirect enum QueryArgument: Sendable {
    /// Null, which has no type of its own.
    case null
    /// An int: a signed integer of 64 bits.
    case int(Int64)
    /// A bool, which can be compared with bools only.
    case bool(Bool)
    /// A float: a binary floating-point number of 32 bits.
    case float(Float)
    /// A double: a binary floating-point number of 64 bits.
    case double(Double)
    /// A string that is valid UTF-8. It is compared as the reference engine compares strings.
    case string(String)
    /// A text without a type of its own, as JSON has it: `PlainText` reads it by the type of what it is compared with.
    case text(String)
    /// The bytes of a string that is not valid UTF-8, which a file may contain.
    case stringBytes([UInt8])
    /// Binary data of any length, which can be compared with binary data only.
    case binary([UInt8])
    /// A timestamp: seconds and nanoseconds since 1970-01-01 UTC.
    case timestamp(Timestamp)
    /// A decimal number of 34 digits. Its null value has the same meaning as `null`.
    case decimal(Decimal128)
    /// An object id: an identifier of 12 bytes.
    case objectID(ObjectID)
    /// A UUID: an identifier of 16 bytes.
    case uuid(UUIDValue)
    /// The key of an object in the class with which it is compared.
    case objectKey(ObjectKey)
    case link(TableKey, ObjectKey)
    /// The object of a class, named without prefix, with a primary key. When there is none, it equals nothing.
    case object(className: String, primaryKey: QueryArgument)
    /// A list, with the same rules as a list literal. It cannot contain lists.
    case list([QueryArgument])
    /// A geospatial shape, which is allowed on the right side of `geoWithin` only.
    case shape(GeoShape)
}

extension QueryArgument {
    /// Whether this is a text without a type of its own.
    var isText: Bool {
        if case .text = self { return true }
        return false
    }

    /// The number of bytes of a text or of binary data; 0 for all else.
    var byteCount: Int {
        switch self {
        case .string(let text), .text(let text): return text.utf8.count
        case .binary(let bytes), .stringBytes(let bytes): return bytes.count
        default: return 0
        }
    }
}
