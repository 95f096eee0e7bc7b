// SPDX-License-Identifier: Apache-2.0

package struct PropertyInput: Sendable {
    package var name: String
    /// A name of `PropertyType`.
    package var type: String
    /// `list`, `set` or `dictionary`.
    package var collection: String?
    /// Nil means what follows from the type, or no.
    package var isOptional: Bool?
    /// `general` or `fulltext`.
    package var indexed: String?
    /// The class that links lead to.
    package var objectType: String?

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
