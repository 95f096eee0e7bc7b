// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// The state of a target in a version.
package enum ObservedContents: Sendable {
    /// The objects of a class that it has, in order.
    case rows(TableKey, [ObjectKey])
    /// So many elements; `places` are their positions in the collection when they are a view of it.
    case values(count: Int, places: [Int]?)
    /// So many entries.
    case dictionary(count: Int)
    /// The object is there.
    case object
    /// With the position of each section among all.
    case sections(TableKey, [(index: Int, key: SectionIdentity, rows: [ObjectKey])])
    /// A whole realm, of which there is nothing to show.
    case realm
    /// The object that it belonged to was deleted.
    case gone
}
