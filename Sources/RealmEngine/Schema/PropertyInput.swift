// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A property as a client requests it; it is not checked yet. `SchemaValidator` turns it into a `PropertySchema`.
package struct PropertyInput: Sendable {
    package var name: String
    /// The type, as `PropertyType` spells it.
    package var type: String
    /// The kind of collection, `list`, `set` or `dictionary`; nil for a single value.
    package var collection: String?
    /// Whether null is allowed; nil means what follows from the type, or false.
    package var isOptional: Bool?
    /// The kind of index, `general` or `fulltext`; nil for none.
    package var indexed: String?
    /// The name of the class that links lead to; nil for other types.
    package var objectType: String?

    /// Makes the description of a property; whatever is nil follows from the type.
    package init(
        _ name: String, _ type: String, collection: String? = nil, optional: Bool? = nil, indexed: String? = nil,
        objectType: String? = nil
    ) {
        self.name = name
        self.type = type
        self.collection = collection
        isOptional = optional
        self.indexed = indexed
        self.objectType = objectType
    }
}
