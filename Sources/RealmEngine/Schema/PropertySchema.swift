// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A property as it is in a file.
package struct PropertySchema: Sendable, Equatable {
    /// The name.
    package let name: String
    /// The type of the value, or of each element of a collection.
    package let type: PropertyType
    /// The kind of collection; nil for a single value.
    package let collection: CollectionKind?
    /// May the value (for collections: an element) be null?
    package let isOptional: Bool
    /// The kind of search index; nil for none. A primary key always counts as indexed.
    package let index: IndexKind?
    /// The class that links point to.
    package let objectType: String?

    /// A property that is described without a file.
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
}
