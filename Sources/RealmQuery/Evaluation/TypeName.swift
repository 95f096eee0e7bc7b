// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The names of types with which `@type` is compared.
///
/// A name may mean several types, as `numeric` does, so a type is a set of bits. Two sets are
/// equal in a query when they have a bit in common.
enum TypeName {
    /// The bits of a set of types: one for each type that a value can have.
    private enum Bit {
        static let null: Int64 = 1 << 0
        static let int: Int64 = 1 << 1
        static let bool: Int64 = 1 << 2
        static let string: Int64 = 1 << 3
        static let binary: Int64 = 1 << 4
        static let timestamp: Int64 = 1 << 5
        static let float: Int64 = 1 << 6
        static let double: Int64 = 1 << 7
        static let decimal: Int64 = 1 << 8
        static let objectID: Int64 = 1 << 9
        static let uuid: Int64 = 1 << 10
        static let link: Int64 = 1 << 11
        static let dictionary: Int64 = 1 << 12
        static let list: Int64 = 1 << 13
    }

    /// The set that contains only the type of links to objects.
    static let objectLink = Bit.link

    /// The known names in lower case, with the types that each of them means.
    private static let names: [ByteText: Int64] = [
        "null": Bit.null,
        "int": Bit.int, "integer": Bit.int, "int16": Bit.int, "int32": Bit.int, "int64": Bit.int, "short": Bit.int,
        "long": Bit.int, "byte": Bit.int, "char": Bit.int,
        "bool": Bit.bool, "boolean": Bit.bool,
        "string": Bit.string,
        "binary": Bit.binary, "data": Bit.binary, "bytearray": Bit.binary, "byte[]": Bit.binary,
        "bindata": Bit.binary,
        "date": Bit.timestamp, "datetimeoffset": Bit.timestamp, "timestamp": Bit.timestamp,
        "float": Bit.float, "double": Bit.double,
        "decimal": Bit.decimal, "decimal128": Bit.decimal,
        "numeric": Bit.int | Bit.float | Bit.double | Bit.decimal,
        "objectid": Bit.objectID,
        "uuid": Bit.uuid, "guid": Bit.uuid,
        "objectlink": Bit.link, "link": Bit.link,
        "object": Bit.dictionary, "dictionary": Bit.dictionary,
        "array": Bit.list, "list": Bit.list,
        "collection": Bit.list | Bit.dictionary,
    ]

    /// The names that are known, for suggestions.
    static var all: [String] { names.keys.sorted().map(\.text) }

    /// Returns the set of types that a name means, letter case ignored; nil for an unknown name.
    static func bits(named name: ByteView) -> Int64? { name.count > 16 ? nil : names[name.string.lowercasedASCII] }

    /// Returns the set that contains only the type of a value.
    static func bits(of value: Value) -> Int64 {
        switch value {
        case .null: return Bit.null
        case .int: return Bit.int
        case .bool: return Bit.bool
        case .float: return Bit.float
        case .double: return Bit.double
        case .string: return Bit.string
        case .binary: return Bit.binary
        case .timestamp: return Bit.timestamp
        case .decimal: return Bit.decimal
        case .objectID: return Bit.objectID
        case .uuid: return Bit.uuid
        case .link: return Bit.link
        case .list: return Bit.list
        case .dictionary: return Bit.dictionary
        }
    }

    /// Returns the set with the type of a property; the empty set for a mixed property, whose type depends on the object.
    static func bits(of type: ColumnType) -> Int64 {
        switch type {
        case .int: return Bit.int
        case .bool: return Bit.bool
        case .string: return Bit.string
        case .binary: return Bit.binary
        case .timestamp: return Bit.timestamp
        case .float: return Bit.float
        case .double: return Bit.double
        case .decimal: return Bit.decimal
        case .objectID: return Bit.objectID
        case .uuid: return Bit.uuid
        case .link, .backlink: return Bit.link
        case .mixed: return 0
        }
    }
}
