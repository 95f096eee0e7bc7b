// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value that is passed for `$n`, or a copy of a stored value in a page position. It borrows
/// nothing.
package indirect enum QueryArgument: Sendable {
    /// Null, which has no type of its own.
    case null
    /// A signed integer of 64 bits.
    case int(Int64)
    /// A truth value.
    case bool(Bool)
    /// A number of 32 bits.
    case float(Float)
    /// A number of 64 bits.
    case double(Double)
    /// Text.
    case string(String)
    /// Text that is not valid UTF-8, which a file may hold.
    case stringBytes([UInt8])
    /// Binary data of any length.
    case binary([UInt8])
    /// A moment in UTC.
    case timestamp(Timestamp)
    /// A decimal number; its null counts as null.
    case decimal(Decimal128)
    /// An identifier of 12 bytes.
    case objectID(ObjectID)
    /// An identifier of 16 bytes.
    case uuid(UUIDValue)
    /// The key of an object in the class with which it is compared.
    case objectKey(ObjectKey)
    /// The keys of a table and of an object in it.
    case link(TableKey, ObjectKey)
    /// The object of a class, named without prefix, with a primary key; null when there is none.
    case object(className: String, primaryKey: QueryArgument)
    /// A list, with the same rules as a list literal. It cannot contain lists.
    case list([QueryArgument])
    /// A shape for `geoWithin`.
    case shape(GeoShape)
}

extension QueryArgument {
    /// The number of bytes of a text or of binary data; 0 for all else.
    var byteCount: Int {
        switch self {
        case .string(let text): return text.utf8.count
        case .binary(let bytes), .stringBytes(let bytes): return bytes.count
        default: return 0
        }
    }
}
