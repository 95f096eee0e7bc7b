// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A column of a table as it was in some version.
struct FormerColumn: Equatable {
    /// The types of columns by their numbers in the file.
    enum Kind: Int {
        case int = 0
        case bool = 1
        case string = 2
        case data = 4
        case mixed = 6
        case timestamp = 8
        case float = 9
        case double = 10
        case decimal = 11
        case link = 12
        case backlink = 14
        case objectID = 15
        case typedLink = 16
        case uuid = 17
    }

    let name: String
    /// The type of the values or elements.
    let kind: Kind
    /// The attributes; see `Attribute`.
    let attributes: Int64
    let key: Int64
    /// The type of the keys of a dictionary, as a number of the file.
    let dictionaryKeyType: Int
    /// The table that links lead to; nil when that is not known.
    var targetTable: UInt32?
    /// The list of texts of an enumerated column; 0 for none.
    var enumerationRef: UInt64 = 0

    /// Bits of attributes.
    enum Attribute {
        static let nullable: Int64 = 16
        static let list: Int64 = 32
        static let dictionary: Int64 = 64
        static let set: Int64 = 128
        static let collection = list | dictionary | set
    }

    /// The index of the column in the leaves.
    var index: Int { Int(key & 0xffff) }
    /// Whether values may be null.
    var isNullable: Bool { attributes & Attribute.nullable != 0 }
    /// Whether the column has a list, set or dictionary for each object.
    var isCollection: Bool { attributes & Attribute.collection != 0 }
    /// Whether the column has a dictionary for each object.
    var isDictionary: Bool { attributes & Attribute.dictionary != 0 }

    /// Whether two columns are read in the same way.
    func isAlike(_ other: FormerColumn) -> Bool {
        name == other.name && key == other.key && attributes == other.attributes && dictionaryKeyType == other.dictionaryKeyType
    }
}
