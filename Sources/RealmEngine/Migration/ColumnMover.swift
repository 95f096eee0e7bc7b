// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What is moved from one property to another.
///
/// A column cannot change its type in the file. So a new one is made beside it, gets the values, and takes over the name.
struct ColumnMover {
    /// The property that the values come from.
    let source: Column
    /// The new property.
    let target: Column
    /// How values become those of the new type; nil when the type stays.
    let conversion: ValueConversion?
    /// What replaces nulls that the new property cannot have; nil loses them.
    let nullValue: InputValue?
    /// The class of both.
    let table: TableKey
}
