// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The values of one object at one time: a row of a recovered leaf.
struct RecoveredState {
    let leaf: RecoveredLeaf
    let row: Int
    /// The key of the object in its table; nil where its place in the tree is not known.
    let objectKey: Int64?
    /// The primary key as the HTTP interface writes it; nil where it is not known, or the class has none.
    let primaryKey: String?
    /// The key according to uncertain keys.
    let guess: String?

    /// Whether it is not known which object the row is of.
    var isUnattributed: Bool { objectKey == nil && primaryKey == nil }

    /// Returns the value of column `index` as it may be stated; nil for a lost one. Of a row without an object only sure values
    /// are stated.
    func value(at index: Int) -> ArraySlice<UInt8>? {
        isUnattributed && leaf.columns[index].strength == .maybe ? nil : leaf.columns[index].value(row)
    }

    /// Returns why the value of column `index` is not stated; nil for one that is.
    func loss(at index: Int) -> Loss? {
        leaf.columns[index].loss(row) ?? (isUnattributed && leaf.columns[index].strength == .maybe ? .unproved : nil)
    }

    /// Returns what the lost value of column `index` might be; nil for nothing.
    func possible(at index: Int) -> ArraySlice<UInt8>? {
        if let text = leaf.columns[index].possible[row] { return text[...] }
        return isUnattributed && leaf.columns[index].strength == .maybe ? leaf.columns[index].value(row) : nil
    }

    /// Returns the value of the column with a name; nil for a lost one and for none.
    func value(named name: String) -> ArraySlice<UInt8>? { leaf.columnIndex(name).flatMap { value(at: $0) } }

    /// The indices of the columns whose values are known.
    var knownColumns: [Int] { leaf.columns.indices.filter { loss(at: $0) == nil } }

    /// The names of the columns whose values are known.
    var knownNames: [String] { knownColumns.map { leaf.columns[$0].name } }

    /// Returns whether every known value of another state is a value of this one too.
    func hasValues(of other: RecoveredState) -> Bool {
        other.leaf.columns.indices.allSatisfy { index in
            guard let theirs = other.value(at: index) else { return true }
            let name = other.leaf.columns[index].name
            // Leaves of one class mostly have the same columns in the same order.
            let place = index < leaf.columns.count && leaf.columns[index].name == name ? index : leaf.columnIndex(name)
            return place.flatMap { value(at: $0) }.map { $0.elementsEqual(theirs) } ?? false
        }
    }
}
