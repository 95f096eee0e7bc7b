// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// An object by its keys.
package struct ObjectPlace: Sendable, Hashable {
    package let table: TableKey
    package let object: ObjectKey

    package init(table: TableKey, object: ObjectKey) {
        self.table = table
        self.object = object
    }
}

/// Where one value stands, or is going to stand.
enum Slot {
    case property(ObjectPlace, Column)
    /// A list element at an index that exists.
    case element(CollectionPlace, Int)
    /// A list element that is put before the one at an index.
    case newElement(CollectionPlace, Int)
    /// A dictionary entry, there or not.
    case entry(CollectionPlace, String)

    /// The collection in this slot, if it is a Mixed one that holds a collection.
    var collection: CollectionPlace {
        switch self {
        case .property(let place, let column): return CollectionPlace(place.table, place.object, column)
        case .element(let place, let index), .newElement(let place, let index): return place.inside(.index(index))
        case .entry(let place, let key): return place.inside(.key(key))
        }
    }
}

/// What may stand in a slot.
struct SlotShape {
    let type: ColumnType
    let isNullable: Bool
    /// Of links.
    let target: TableKey?

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
    func inside(_ step: PathStep) -> CollectionPlace { CollectionPlace(table, object, column, path: path + [step]) }

    /// What its elements are.
    var elementShape: SlotShape { path.isEmpty && column.collection != nil ? SlotShape(column) : .mixed }
}
