// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A value of a property or an element of a collection, equal to another one when they are the same bit for bit.
///
/// It borrows the bytes of its value, so it is valid as long as the snapshot of the value.
enum ElementIdentity: Hashable {
    case null
    /// A number of 64 bits, with the number of its type, because 1, 1.0 and true differ.
    case number(UInt64, type: UInt8)
    case string(ByteView)
    /// The bytes of binary data.
    case binary(ByteView)
    /// A point in time.
    case timestamp(Timestamp)
    case decimal(Decimal128)
    case objectID(ObjectID)
    case uuid(UUIDValue)
    case link(TableKey, ObjectKey)
    /// A nested collection, by its number among its siblings of the same kind. Its contents are compared afterwards.
    case nested(Int, isList: Bool)

    /// Makes the identity of a value.
    ///
    /// - Parameters:
    ///   - nested: The number of nested collections before it, which grows with each of them.
    init(_ value: Value, nested: inout Int) {
        switch value {
        case .null: self = .null
        case .int(let number): self = .number(UInt64(bitPattern: number), type: 0)
        case .bool(let flag): self = .number(flag ? 1 : 0, type: 1)
        case .float(let number): self = .number(UInt64(number.bitPattern), type: 2)
        case .double(let number): self = .number(number.bitPattern, type: 3)
        case .string(let bytes): self = .string(bytes)
        case .binary(let bytes): self = .binary(bytes)
        case .timestamp(let time): self = .timestamp(time)
        case .decimal(let number): self = .decimal(number)
        case .objectID(let id): self = .objectID(id)
        case .uuid(let id): self = .uuid(id)
        case .link(let table, let object): self = .link(table, object)
        case .list, .dictionary:
            let isList = if case .list = value { true } else { false }
            self = .nested(nested, isList: isList)
            nested += 1
        }
    }
}
