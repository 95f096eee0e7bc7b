// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The state of a target in a version, by the kind of target.
package enum ObservedContents: Sendable {
    /// The class and the keys of the rows, in their order.
    case rows(TableKey, [ObjectKey])
    /// The number of values; `places` are their positions in the collection if they are a selection of it.
    case values(count: Int, places: [Int]?)
    /// The number of entries of a dictionary.
    case dictionary(count: Int)
    /// The object exists; its values are read from the version.
    case object
    /// The class and the requested sections, each with its position among all sections and the keys of its rows.
    case sections(TableKey, [(index: Int, key: SectionIdentity, rows: [ObjectKey])])
    /// A whole realm, which has no contents of its own.
    case realm
    /// The object that the target belonged to was deleted.
    case gone
}
