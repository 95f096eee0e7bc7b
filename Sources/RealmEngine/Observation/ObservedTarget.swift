// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The target of a subscription, in terms of keys, which remain valid when classes and properties are renamed.
package struct ObservedTarget: Sendable {
    /// The kinds of targets that can be observed, with the keys that identify each.
    package enum Kind: Sendable {
        /// A whole realm: the classes that each commit changes.
        case realm
        /// The result of a query over the objects of a class.
        case results(TableKey, ObservedQuery)
        /// A result in sections. Its order has to start with the key path that the sections are derived from.
        case sections(TableKey, ObservedQuery, ObservedSections)
        /// A whole list, set or dictionary in its own order.
        case collection(ObservedProperty)
        /// A selection of a list, set or dictionary, or its elements in another order.
        case view(ObservedProperty, ObservedQuery)
        /// The objects that link to an object through a property of the class `origin`.
        case linkingObjects(to: ObservedObject, origin: TableKey, ColumnKey, ObservedQuery?)
        /// One object: its properties, or what key paths from it lead to.
        case object(ObservedObject)
    }

    /// Decides which changes count as modifications of an element or of an object.
    package enum Filter: Sendable {
        /// Any change. An element of a result or collection counts as modified when its object changes, or an object that it
        /// reaches through up to three links; a target that is a single object only when one of its own properties changes.
        case all
        /// No changes: only insertions, deletions and moves are reported.
        case shallow
        /// Changes that the key paths lead to.
        case keyPaths(KeyPathFilter)
    }

    /// The kind of target with its keys.
    package let kind: Kind
    /// The changes that count as modifications.
    package let filter: Filter
    /// A text that is equal for equal definitions, which are then observed once, and different for different ones.
    package let identity: String

    /// Makes a target.
    ///
    /// - Parameters:
    ///   - kind: The kind of target with its keys.
    ///   - filter: The changes that count as modifications.
    ///   - identity: A text that identifies the definition.
    package init(_ kind: Kind, filter: Filter = .all, identity: String) {
        self.kind = kind
        self.filter = filter
        self.identity = identity
    }
}

/// Identifies an observed object by its keys.
package struct ObservedObject: Sendable, Hashable {
    /// The key of the table that contains the object.
    package let table: TableKey
    /// The key of the object within its table.
    package let key: ObjectKey

    /// Makes the identification of an object; whether it exists is not checked.
    package init(_ table: TableKey, _ key: ObjectKey) {
        self.table = table
        self.key = key
    }
}

/// Identifies a property of one object.
package struct ObservedProperty: Sendable, Hashable {
    package let object: ObservedObject
    /// The key of the property's column in the table of the object.
    package let column: ColumnKey

    /// Makes the identification of a property.
    package init(_ object: ObservedObject, _ column: ColumnKey) {
        self.object = object
        self.column = column
    }
}
