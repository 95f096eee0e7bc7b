// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The difference between two states of a target, by the kind of target.
package enum ObservedChange: Sendable {
    /// The change of a result, of linking objects, or of a collection of links or a selection of it.
    case rows(RowsChange)
    /// The change of a list or set of values or embedded objects, or of a selection of such values.
    case values(ObservedChange.Values)
    /// The change of a whole dictionary.
    case dictionary(DictionaryChange)
    /// The changed properties of an object in the order of the schema, with linking objects last.
    case object([KeyPathFilter.Step])
    /// The object was deleted; no other change follows.
    case objectDeleted
    /// The change of a result that is divided into sections.
    case sections(SectionedChange)
    /// The tables with changes, in ascending order; of a whole realm.
    case realm([TableKey])
    /// The details are not known: the contents have to be read again.
    case unknown

    /// Whether only the observation ends, without any difference to report.
    package var isSilent: Bool {
        if case .rows(let change) = self { return change.isLast && change.changes.isEmpty }
        return false
    }
}

extension ObservedChange {
    /// The difference between two sequences of values, given by positions; the values are read from the new version.
    package struct Values: Sendable {
        /// The positions in the observed sequence.
        package let changes: CollectionChanges
        /// The positions in the collection of the values at `changes.insertions`; the same positions for a whole collection.
        package let insertedPlaces: [Int]
        /// The positions in the collection of the values at `changes.modificationsNew`, after the change.
        package let modifiedPlaces: [Int]
        /// The number of values after the change.
        package let count: Int
    }
}
