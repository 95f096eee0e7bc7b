// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A column of an old table as the property that it becomes.
struct LegacyProperty {
    /// The form of values after the conversion.
    enum Kind {
        case value(ColumnType)
        /// A list of the values of the one column that the tables inside of rows have.
        case list(ColumnType, of: LegacyColumn)
        /// A link to the objects of the table at a position.
        case link(Int)
        /// A list of links to the objects of the table at a position.
        case linkList(Int)
    }

    let column: LegacyColumn
    let name: String
    /// The form of values after the conversion.
    let kind: Kind

    /// Makes the definition of the new column, without its index.
    ///
    /// - Parameter targets: The keys of the new tables by the positions of the old ones.
    func definition(_ targets: [TableKey?]) -> ColumnDefinition {
        switch kind {
        case .value(let type): return ColumnDefinition(name, type, isNullable: column.isNullable)
        case .list(let type, let element): return ColumnDefinition(name, type, isNullable: element.isNullable, collection: .list)
        case .link(let position): return ColumnDefinition(name, .link, target: targets[position])
        case .linkList(let position): return ColumnDefinition(name, .link, collection: .list, target: targets[position])
        }
    }

    /// The position of the table that links point to; nil for other properties.
    var target: Int? {
        switch kind {
        case .link(let position), .linkList(let position): return position
        default: return nil
        }
    }

    /// Whether a property of this kind can have a search index today.
    var isIndexable: Bool {
        guard case .value(let type) = kind else { return false }
        return [.int, .bool, .string, .timestamp, .mixed].contains(type)
    }

    /// Returns the type that values become; nil for one without an equivalent.
    static func valueType(_ type: LegacyType) -> ColumnType? {
        switch type {
        case .int: return .int
        case .bool: return .bool
        case .string, .enumerated: return .string
        case .binary: return .binary
        case .mixed: return .mixed
        case .oldDate, .timestamp: return .timestamp
        case .float: return .float
        case .double: return .double
        case .table, .link, .linkList, .backlink: return nil
        }
    }
}
