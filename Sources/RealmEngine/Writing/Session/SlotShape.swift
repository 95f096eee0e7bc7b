// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Which values a slot takes.
struct SlotShape {
    /// The type of the value.
    let type: ColumnType
    /// Whether the value may be null.
    let isNullable: Bool
    /// Of links.
    let target: TableKey?

    /// A shape that no column has.
    init(_ type: ColumnType, isNullable: Bool, target: TableKey? = nil) {
        self.type = type
        self.isNullable = isNullable
        self.target = target
    }

    /// The value of a property, or an element of its collection.
    init(_ column: Column) { self.init(column.type, isNullable: column.isNullable, target: column.targetTable) }

    /// What collections in Mixed hold.
    static let mixed = SlotShape(.mixed, isNullable: true)

    /// How lists of it are read.
    var elements: ElementShape {
        ElementShape(type: type, isNullable: isNullable, targetTable: target ?? .null)
    }
}

extension CollectionPlace {
    /// The collection at a step inside this one, which is in a mixed property.
    func inside(_ step: PathStep) -> CollectionPlace { CollectionPlace(table, object, column, path: path + [step]) }

    /// What its elements are.
    var elementShape: SlotShape { path.isEmpty && column.collection != nil ? SlotShape(column) : .mixed }
}
