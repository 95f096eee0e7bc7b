// SPDX-License-Identifier: Apache-2.0

internal import RealmQuery
package import RealmStorage

/// What is observed, as keys: they stay valid when classes and properties get other names.
package struct ObservedTarget: Sendable {
    /// What kind of thing is observed.
    package enum Kind: Sendable {
        /// Which classes a commit touches.
        case realm
        case results(TableKey, ObservedQuery)
        /// A result in sections; its order has to begin with the key path that the sections come from.
        case sections(TableKey, ObservedQuery, ObservedSections)
        /// A list, set or dictionary itself.
        case collection(ObservedProperty)
        /// A selection or another order of what a list, set or dictionary holds.
        case view(ObservedProperty, ObservedQuery)
        /// The objects that link to one through a property of `origin`.
        case linkingObjects(to: ObservedObject, origin: TableKey, ColumnKey, ObservedQuery?)
        case object(ObservedObject)
    }

    /// Which changes of elements count, or which of an object.
    package enum Filter: Sendable {
        /// Those of the element and of what it reaches over up to three links; of an object, its own.
        case all
        /// None.
        case shallow
        case keyPaths(KeyPathFilter)
    }

    /// What is observed.
    package let kind: Kind
    /// Which changes count.
    package let filter: Filter
    /// The same for equal definitions, which are observed once; any text that is different for other definitions.
    package let identity: String

    /// A target; `identity` has to be another one for another target.
    package init(_ kind: Kind, filter: Filter = .all, identity: String) {
        self.kind = kind
        self.filter = filter
        self.identity = identity
    }
}
