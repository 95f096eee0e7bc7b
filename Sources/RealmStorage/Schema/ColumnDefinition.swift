// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The definition of a column that is to be made: what a user states about a new property.
///
/// Keys, leaf indexes and the hidden columns of links follow from it when the column is made.
package struct ColumnDefinition: Sendable {
    package let name: String
    /// The type of the values or of the elements.
    package let type: ColumnType
    /// Whether values or elements may be null.
    package let isNullable: Bool
    /// The kind of collection; nil for a single value.
    package let collection: CollectionKind?
    /// The table that links point to; nil for other types.
    package let target: TableKey?
    /// The kind of index; nil for none.
    package let index: IndexKind?

    /// Makes a definition.
    ///
    /// - Parameters:
    ///   - type: The type of the values or elements.
    ///   - isNullable: Whether they may be null; ignored for links and Mixed, whose type decides
    ///     it.
    ///   - collection: The kind of collection; nil for a single value.
    ///   - target: The table that links point to.
    ///   - index: The kind of index; nil for none.
    package init(
        _ name: String, _ type: ColumnType, isNullable: Bool = false, collection: CollectionKind? = nil,
        target: TableKey? = nil, index: IndexKind? = nil
    ) {
        self.name = name
        self.type = type
        self.isNullable = ColumnDefinition.nullability(type, collection) ?? isNullable
        self.collection = collection
        self.target = target
        self.index = index
    }

    /// Returns whether values may be null where the type decides it; nil where it does not.
    private static func nullability(_ type: ColumnType, _ collection: CollectionKind?) -> Bool? {
        switch type {
        case .mixed: return true
        case .link: return collection == nil || collection == .dictionary
        case .backlink: return false
        default: return nil
        }
    }

    /// The attribute bits that a column key has: all but those of indexes.
    var keyAttributes: ColumnAttributes {
        var bits: ColumnAttributes = isNullable ? .nullable : []
        switch collection {
        case .list: bits.insert(.list)
        case .set: bits.insert(.set)
        case .dictionary: bits.insert(.dictionary)
        case nil: break
        }
        return bits
    }

    /// The number that the spec has for the column: its type, and for dictionaries the type of the keys above bit 15.
    var typeWord: Int64 {
        Int64(type.rawValue) | (collection == .dictionary ? Int64(ColumnType.string.rawValue) << 16 : 0)
    }
}
