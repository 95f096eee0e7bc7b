// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value passed for `$n`.
package indirect enum QueryArgument: Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case float(Float)
    case double(Double)
    case string(String)
    /// Text that is not UTF-8.
    case stringBytes([UInt8])
    case binary([UInt8])
    case timestamp(Timestamp)
    case decimal(Decimal128)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    /// The key of an object of whatever class it is compared with.
    case objectKey(ObjectKey)
    case link(TableKey, ObjectKey)
    /// The object of a class, named without prefix, with a primary key; null when there is none.
    case object(className: String, primaryKey: QueryArgument)
    case list([QueryArgument])
    case shape(GeoShape)
}

extension QueryArgument {
    /// The bytes of a text or of binary data; 0 for all else.
    var byteCount: Int {
        switch self {
        case .string(let text): return text.utf8.count
        case .binary(let bytes), .stringBytes(let bytes): return bytes.count
        default: return 0
        }
    }
}
