// SPDX-License-Identifier: Apache-2.0

/// A schema as somebody asks for it: names as they were written, not checked yet.
package struct SchemaInput: Sendable {
    /// Nil leaves the choice to the server.
    package var version: UInt64?
    package var classes: [ClassInput]

    package init(version: UInt64? = nil, classes: [ClassInput]) {
        self.version = version
        self.classes = classes
    }
}

package struct ClassInput: Sendable {
    package var name: String
    /// `object` or `embedded`; nil means `object`.
    package var type: String?
    package var primaryKey: String?
    package var properties: [PropertyInput]

    package init(_ name: String, type: String? = nil, primaryKey: String? = nil, _ properties: [PropertyInput]) {
        self.name = name
        self.type = type
        self.primaryKey = primaryKey
        self.properties = properties
    }
}

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
