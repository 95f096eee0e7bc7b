// SPDX-License-Identifier: Apache-2.0

/// What is needed to read a leaf of values.
package struct ElementShape: Sendable {
    package let type: ColumnType
    package let isNullable: Bool
    /// The table that links point to; null for other types.
    package let targetTable: TableKey

    package init(type: ColumnType, isNullable: Bool, targetTable: TableKey = .null) {
        self.type = type
        self.isNullable = isNullable
        self.targetTable = targetTable
    }

    /// Elements of collections nested in Mixed, and values of dictionaries.
    package static let mixed = ElementShape(type: .mixed, isNullable: true)
}
