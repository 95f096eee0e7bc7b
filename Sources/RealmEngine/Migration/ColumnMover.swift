// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What is moved from one property to another.
struct ColumnMover {
    let source: Column
    let target: Column
    let conversion: ValueConversion?
    let nullValue: InputValue?
    let table: TableKey
}
