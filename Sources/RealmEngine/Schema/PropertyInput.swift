// SPDX-License-Identifier: Apache-2.0

/// A property as it is asked for, not checked yet.
package struct PropertyInput: Sendable {
    /// The name.
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

    /// A property; what is left out follows from the type.
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
