// SPDX-License-Identifier: Apache-2.0

/// The type of the values in a leaf, with what else is needed to read them.
///
/// The header of a leaf does not state what its elements mean, so this comes from the column. It is
/// the same for a property and for the elements of a list or set of that type.
package struct ElementShape: Sendable {
    /// The type of the values in the leaf.
    package let type: ColumnType
    /// Whether values may be null, which changes how integers and numbers are stored.
    package let isNullable: Bool
    /// The table that links point to; null for other types.
    package let targetTable: TableKey

    /// Makes the shape of leaves with values of a type; `targetTable` matters for links only.
    package init(type: ColumnType, isNullable: Bool, targetTable: TableKey = .null) {
        self.type = type
        self.isNullable = isNullable
        self.targetTable = targetTable
    }

    /// The shape of elements of collections nested in Mixed, and of values of dictionaries.
    package static let mixed = ElementShape(type: .mixed, isNullable: true)
}
