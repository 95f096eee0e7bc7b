// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Which changes a target has to be shown. All others pass it over without a call.
///
/// An observer derives it from its plan, so it is valid until the schema changes. It may name too much, but never too little.
enum TargetInterest {
    /// The target is shown every round.
    case everything
    /// Rows of a class.
    case rows(RowInterest)
    /// One object: its properties, and what key paths from it lead to.
    case object(ObservedObject, ObservedTarget.Filter)
}

/// The changes that concern rows of one class: a result, or what a collection or links lead to.
struct RowInterest {
    /// The class of the rows.
    let table: TableKey
    /// The demand on stored values of the rows, if it decides which objects matter, apart from `changes`; nil when any object of
    /// the class may be a row.
    var demand: QueryDemand?
    /// The changes that decide which objects are rows, by class.
    var changes: [TableKey: ClassChanges] = [:]
    /// The object that the rows depend on; nil for the rows of a class.
    var root: ObservedObject?
    /// The changes that count as modifications of a row.
    let filter: ObservedTarget.Filter
}

struct ClassChanges: Hashable {
    /// The columns of which any may have been written.
    var columns = ColumnBits()
    /// Whether objects that were inserted or deleted are meant.
    var hasMembers = false

    /// Returns whether changes of that kind are in a log.
    func occur(in log: RangeLog.TableLog) -> Bool {
        hasMembers && !(log.inserted.isEmpty && log.deleted.isEmpty) || columns.intersects(log.columns)
    }
}
