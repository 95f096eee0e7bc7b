// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The facts about a class for reading its rows before they are written: `ObjectRows`.
///
/// It is a copy, which any thread may use. Writing the rows checks that the class is still the same.
package struct RowShape: Sendable, Equatable {
    /// A property of the class.
    struct Property: Sendable, Equatable {
        /// The name that members for it have, in UTF-8.
        let name: [UInt8]
        let type: ColumnType
        /// Whether it takes null.
        let isNullable: Bool
        /// Whether values of it can be part of a row: those of collections, links and mixed properties cannot.
        let isPlain: Bool
        /// Whether a row needs a value for it.
        let isRequired: Bool
    }

    package let className: String
    /// The properties in the order of the columns.
    let properties: [Property]
    package var propertyCount: Int { properties.count }
    /// The position of the primary key; nil for a class without one.
    let keyPosition: Int?

    /// Makes the shape of a class as it is in a transaction.
    ///
    /// - Parameters:
    ///   - naming: How members refer to properties.
    init(_ table: TableState, _ naming: MemberNaming) {
        self.init(table.className, table.columns, key: table.primaryKey, naming)
    }

    /// Makes the shape of a class as it is in a version.
    ///
    /// - Parameters:
    ///   - naming: How members refer to properties.
    init(_ table: Table, named className: String, _ naming: MemberNaming) {
        self.init(className, table.columns, key: table.primaryKey, naming)
    }

    private init(_ className: String, _ columns: [Column], key: Column?, _ naming: MemberNaming) {
        self.className = className
        let key = key?.leafIndex
        keyPosition = columns.firstIndex { $0.leafIndex == key }
        properties = columns.map { column in
            let name = Array(naming.member(column.name).utf8)
            // No member of JSON has a name with NUL.
            let isPlain = column.collection == nil && column.type != .link && column.type != .mixed && !name.contains(0)
            return Property(
                name: name, type: column.type, isNullable: column.isNullable, isPlain: isPlain,
                isRequired: column.leafIndex == key || (column.collection == nil && !column.isNullable))
        }
    }
}
