// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A value whose type was said with it.
package enum TypedInput: Sendable {
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(Decimal128)
    case timestamp(Timestamp)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    case binary([UInt8])
    /// Text that need not be UTF-8.
    case stringBytes([UInt8])

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
