// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// The difference between two states of a target, by its kind.
package enum ObservedChange: Sendable {
    /// Of results, linking objects, lists and sets of objects that stand for themselves, and views of those.
    case rows(RowsChange)
    /// Of lists and sets of values or embedded objects, and of views of those and of dictionaries.
    case values(ValuesChange)
    /// Of dictionaries that stand for themselves.
    case dictionary(DictionaryChange)
    /// The properties in the order of the schema, linking objects last.
    case object([KeyPathStep])
    /// The object is gone; nothing follows.
    case objectDeleted
    /// Of results that are divided into sections.
    case sections(SectionedChange)
    /// The tables in which something is different or was written, in position order.
    case realm([TableKey])
    /// What happened is not known in detail: the contents have to be read again.
    case unknown

    /// Whether there is no difference, only the end of the observation.
    package var isSilent: Bool {
        if case .rows(let change) = self { return change.isLast && change.changes.isEmpty }
        return false
    }
}
