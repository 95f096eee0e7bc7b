// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A value that was given together with its type, for example in a typed JSON wrapper.
package enum TypedInput: Sendable {
    /// An integer of 64 bits.
    case int(Int64)
    /// A floating-point number of 32 bits.
    case float(Float)
    /// A floating-point number of 64 bits.
    case double(Double)
    /// A decimal number of 34 digits.
    case decimal(Decimal128)
    /// A date with nanoseconds.
    case timestamp(Timestamp)
    /// An object id of 12 bytes.
    case objectID(ObjectID)
    /// A UUID of 16 bytes.
    case uuid(UUIDValue)
    /// Binary data.
    case binary([UInt8])
    /// The bytes of a string that need not be UTF-8.
    case stringBytes([UInt8])

    /// The type, under the name that schemas use.
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
