// SPDX-License-Identifier: Apache-2.0

/// What is needed to read a leaf of values.
///
/// The header of a leaf does not say what its elements mean, so this comes from the column. It is the same for a property and for
/// the elements of a list or set of that type.
package struct ElementShape: Sendable {
    /// The type of the values.
    package let type: ColumnType
    /// Whether values may be null, which changes how integers and numbers are stored.
    package let isNullable: Bool
    /// The table that links point to; null for other types.
    package let targetTable: TableKey

    /// What a leaf of values of this type looks like; `targetTable` matters for links only.
    package init(type: ColumnType, isNullable: Bool, targetTable: TableKey = .null) {
        self.type = type
        self.isNullable = isNullable
        self.targetTable = targetTable
    }

    /// Elements of collections nested in Mixed, and values of dictionaries.
    package static let mixed = ElementShape(type: .mixed, isNullable: true)
}
