// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Describes which values a slot accepts.
struct SlotShape {
    let type: ColumnType
    /// Whether null is accepted.
    let isNullable: Bool
    /// The table of the class that links must lead to; nil for other types.
    let target: TableKey?

    /// Makes a shape from its parts.
    ///
    /// - Parameters:
    ///   - isNullable: Whether null is accepted.
    ///   - target: The table that links lead to.
    init(_ type: ColumnType, isNullable: Bool, target: TableKey? = nil) {
        self.type = type
        self.isNullable = isNullable
        self.target = target
    }

    /// Makes the shape of the value of a property, or of an element of its collection.
    init(_ column: Column) { self.init(column.type, isNullable: column.isNullable, target: column.targetTable) }

    /// The shape of elements and entries of collections in mixed values: any value, or null.
    static let mixed = SlotShape(.mixed, isNullable: true)

    /// The shape in which `ListView` reads a list or set of such values.
    var elements: ElementShape {
        ElementShape(type: type, isNullable: isNullable, targetTable: target ?? .null)
    }
}

extension CollectionPlace {
    /// Returns the collection that a step leads to inside this one; both belong to the same mixed property.
    func inside(_ step: PathStep) -> CollectionPlace { CollectionPlace(table, object, column, path: path + [step]) }

    /// The shape of the elements or entries of this collection.
    var elementShape: SlotShape { path.isEmpty && column.collection != nil ? SlotShape(column) : .mixed }
}
