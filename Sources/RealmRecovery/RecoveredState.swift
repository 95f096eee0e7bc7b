// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The values of one object at one time: a row of a recovered leaf.
struct RecoveredState {
    /// The leaf.
    let leaf: RecoveredLeaf
    /// The row.
    let row: Int
    /// The key of the object in its table; nil where its place in the tree is not known.
    let objectKey: Int64?
    /// The primary key as the HTTP interface writes it; nil where it is not known, or the class has none.
    let primaryKey: String?
    /// What keys that are not sure would say.
    let guess: String?

    /// Whether it is not known which object the row is of.
    var isUnattributed: Bool { objectKey == nil && primaryKey == nil }

    /// Returns the value of a column as it may be stated; nil for a lost one. Of a row without an object only sure values are
    /// stated.
    func value(_ column: RecoveredLeaf.Column) -> ArraySlice<UInt8>? {
        isUnattributed && column.strength == .maybe ? nil : column.value(row)
    }

    /// Returns why the value of a column is not stated; nil for one that is.
    func loss(_ column: RecoveredLeaf.Column) -> Loss? {
        column.loss(row) ?? (isUnattributed && column.strength == .maybe ? .unproved : nil)
    }

    /// Returns what a lost value might be; nil for nothing.
    func possible(_ column: RecoveredLeaf.Column) -> ArraySlice<UInt8>? {
        if let text = column.possible[row] { return text[...] }
        return isUnattributed && column.strength == .maybe ? column.value(row) : nil
    }

    /// The columns whose values are known.
    var knownColumns: [RecoveredLeaf.Column] { leaf.columns.filter { value($0) != nil } }

    /// Returns whether every known value of another state is a value of this one too.
    func hasValues(of other: RecoveredState) -> Bool {
        other.knownColumns.allSatisfy { column in
            guard let mine = leaf.columns.first(where: { $0.name == column.name }).flatMap({ value($0) }) else { return false }
            return other.value(column).map { $0.elementsEqual(mine) } ?? false
        }
    }
}
