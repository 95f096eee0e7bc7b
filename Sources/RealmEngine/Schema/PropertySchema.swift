// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

package struct PropertySchema: Sendable, Equatable {
    package let name: String
    package let type: PropertyType
    package let collection: CollectionKind?
    /// May the value (for collections: an element) be null?
    package let isOptional: Bool
    package let index: IndexKind?
    /// The class that links point to.
    package let objectType: String?

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
