// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// One value of a property, a collection element or a Mixed.
///
/// Strings and binaries are borrowed (`ByteView`); a value is valid as long as the snapshot or the constant it came from. A
/// collection nested in Mixed is named by the ref of its root, `Ref.none` when it is empty.
package enum Value: Sendable {
    /// Null, which means that there is no value.
    case null
    /// A signed integer of 64 bits.
    case int(Int64)
    /// A boolean, true or false.
    case bool(Bool)
    /// A floating-point number of 32 bits.
    case float(Float)
    /// A floating-point number of 64 bits.
    case double(Double)
    /// A string: UTF-8 text that is read in place.
    case string(ByteView)
    /// A binary: bytes that are read in place.
    case binary(ByteView)
    /// A point in time with nanoseconds.
    case timestamp(Timestamp)
    /// A decimal128 number of up to 34 digits.
    case decimal(Decimal128)
    /// An ObjectId of 12 bytes.
    case objectID(ObjectID)
    /// A UUID of 16 bytes.
    case uuid(UUIDValue)
    /// A link with its table: the value of a link property, of an element of a list of links or of
    /// a Mixed. It is never unresolved when it was read from a file.
    case link(TableKey, ObjectKey)
    /// A list nested in Mixed, named by its root.
    case list(Ref)
    /// A dictionary nested in Mixed, named by its root.
    case dictionary(Ref)

    @inlinable package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

/// The names of the types of values.
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

/// The size of values in memory.
extension Value {
    /// The number of bytes of a string or binary; 0 for values of a fixed size.
    @inline(__always) package var byteCount: Int {
        switch self {
        case .string(let bytes), .binary(let bytes): return bytes.count
        default: return 0
        }
    }
}
