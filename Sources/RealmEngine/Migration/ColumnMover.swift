// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Describes how the values of one property are moved into another property of the same class.
///
/// A column cannot change its type in the file. A change of type or nullability therefore adds a new column, fills it from the
/// old one, removes the old one and gives the new one its name. `WriteSession.changeProperty` makes the mover, and
/// `WriteSession.move` carries it out; it lives for one step of a migration.
struct ColumnMover {
    /// The column that the values come from. It is removed after the move.
    let source: Column
    /// The column that the values are written to. It has a temporary name during the move.
    let target: Column
    let conversion: PropertyConversion
    /// The value that replaces nulls.
    ///
    /// When it is nil, a null that a required property cannot hold becomes the default value of the type
    /// and counts as lost data.
    let nullValue: InputValue?
    /// The table of the class that both columns belong to.
    let table: TableKey

    /// The values that a move has lost so far.
    struct Losses {
        /// The nulls that became default values.
        var nulls = 0
        /// The elements that a set has already.
        var duplicates = 0

        /// The losses that there are, under the names that the client receives.
        var counts: [(name: String, count: Int)] {
            [(name: "nulls", count: nulls), (name: "duplicates", count: duplicates)].filter { $0.count > 0 }
        }
    }

    /// Where one moved value goes.
    enum Place {
        /// To a place that holds one value.
        case slot(Slot)
        /// Into a set.
        case member(CollectionPlace)
    }
}
