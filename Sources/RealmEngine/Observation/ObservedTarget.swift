// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
package import RealmStorage

/// What is observed, as keys: they stay valid when classes and properties get other names.
package struct ObservedTarget: Sendable {
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

    package let kind: Kind
    package let filter: Filter
    /// The same for equal definitions, which are observed once; whatever text tells them from others.
    package let identity: String

    package init(_ kind: Kind, filter: Filter = .all, identity: String) {
        self.kind = kind
        self.filter = filter
        self.identity = identity
    }
}

package struct ObservedObject: Sendable, Hashable {
    package let table: TableKey
    package let key: ObjectKey

    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

/// A property of one object.
package struct ObservedProperty: Sendable, Hashable {
    package let object: ObservedObject
    package let column: ColumnKey

    package init(_ object: ObservedObject, _ column: ColumnKey) {
        self.object = object
        self.column = column
    }
}

/// A selection with an order, without what it selects from.
package struct ObservedQuery: Sendable {
    package let query: Query
    package let arguments: [QueryArgument]
    /// Applied after what `query` says itself.
    package let order: ResultOrder
    /// Only the first so many.
    package let limit: Int?

    package init(_ query: Query = .all, _ arguments: [QueryArgument] = [], order: ResultOrder = .none, limit: Int? = nil) {
        self.query = query
        self.arguments = arguments
        self.order = order
        self.limit = limit
    }
}

/// How a result is divided into sections.
package struct ObservedSections: Sendable {
    /// The key of the section of a row, from the first value that the result is sorted by.
    package let key: @Sendable (PagePosition.Cell) throws -> SectionIdentity
    /// Which section is observed; nil is all of them.
    package let isWanted: (@Sendable (SectionIdentity) -> Bool)?

    package init(
        key: @escaping @Sendable (PagePosition.Cell) throws -> SectionIdentity,
        isWanted: (@Sendable (SectionIdentity) -> Bool)? = nil
    ) {
        self.key = key
        self.isWanted = isWanted
    }
}

/// The key of a section: whatever the layer above takes for it.
package struct SectionIdentity: Sendable, Hashable {
    package let value: any Hashable & Sendable

    package init(_ value: any Hashable & Sendable) { self.value = value }

    package static func == (left: SectionIdentity, right: SectionIdentity) -> Bool {
        AnyHashable(left.value) == AnyHashable(right.value)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(value)) }
}
