// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// A definition whose names were resolved in one version: the target for the hub, and the kind of rows.
///
/// `DefinitionResolver` makes it, and `ChangeFeed` uses it.
struct ResolvedSubscription: Sendable {
    /// The kind of rows of a subscription, which decides the form of change sets and snapshots.
    enum Shape: Sendable {
        /// There are no rows: the names of changed classes are reported.
        case realm
        case objects(TableKey)
        /// Rows of the subscription are objects of a class, divided into sections.
        case sections(TableKey)
        /// Rows are elements of a list or set without an identity: values and embedded objects. A query over a dictionary of such
        /// elements has rows of this kind as well.
        case values(ObservedProperty)
        /// Rows of the subscription are entries of a dictionary.
        case entries(ObservedProperty)
        /// There are no rows: the changed properties of a single object are reported.
        case object(ObservedObject)
    }

    let target: ObservedTarget
    let shape: Shape
}
