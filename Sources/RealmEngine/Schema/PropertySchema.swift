// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A property as it is in a file, or as it results from a checked input.
package struct PropertySchema: Sendable, Equatable {
    package let name: String
    /// The type of the value, or of each element of a collection.
    package let type: PropertyType
    /// The kind of collection; nil for a single value.
    package let collection: CollectionKind?
    /// Whether the value, or an element of the collection, may be null.
    package let isOptional: Bool
    /// The kind of search index; nil for none. A primary key always counts as indexed.
    package let index: IndexKind?
    /// The name of the class that links lead to; nil for other types.
    package let objectType: String?
    /// The value that a create takes when it leaves the property out, as JSON; nil for none. It is part of the
    /// configuration, not of the file.
    package var defaultText: String?

    /// Makes a property that is described without a file.
    package init(
        name: String, type: PropertyType, collection: CollectionKind?, isOptional: Bool, index: IndexKind?,
        objectType: String?
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        self.isOptional = isOptional
        self.index = index
        self.objectType = objectType
    }

    /// Whether the values are links to objects of a class that is not part of the schema, because the realm does not show it.
    package var leadsOut: Bool { type == .object && objectType == nil }
}
