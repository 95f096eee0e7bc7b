// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value whose type was said with it.
package enum TypedInput: Sendable {
    /// A whole number of 64 bits.
    case int(Int64)
    /// A number of 32 bits.
    case float(Float)
    /// A number of 64 bits.
    case double(Double)
    /// A decimal of 34 digits.
    case decimal(Decimal128)
    /// A date with nanoseconds.
    case timestamp(Timestamp)
    /// An id of 12 bytes.
    case objectID(ObjectID)
    /// An id of 16 bytes.
    case uuid(UUIDValue)
    /// Data.
    case binary([UInt8])
    /// Text that need not be UTF-8.
    case stringBytes([UInt8])

    /// The type by the name that schemas use.
    var typeName: String {
        switch self {
        case .int: return "int"
        case .float: return "float"
        case .double: return "double"
        case .decimal: return "decimal128"
        case .timestamp: return "date"
        case .objectID: return "objectId"
        case .uuid: return "uuid"
        case .binary: return "data"
        case .stringBytes: return "string"
        }
    }
}
