// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A schema as a client requests it, with names as they were written; it is not checked yet.
package struct SchemaInput: Sendable {
    /// The schema version; nil leaves the choice to the operation that uses the schema.
    package var version: UInt64?
    /// The classes in any order. Links may lead to classes that come later.
    package var classes: [ClassInput]

    /// Makes the description of a schema.
    package init(version: UInt64? = nil, classes: [ClassInput]) {
        self.version = version
        self.classes = classes
    }
}

/// A class as a client requests it; it is not checked yet. `SchemaValidator` turns it into a `ClassSchema`.
package struct ClassInput: Sendable {
    /// The name of the class without the prefix of its table.
    package var name: String
    /// The type of class: `object` or `embedded`; nil means `object`.
    package var type: String?
    /// The name of the property that is the primary key; nil for none.
    package var primaryKey: String?
    /// The properties in the order in which they are added and shown.
    package var properties: [PropertyInput]

    /// Makes the description of a class.
    package init(_ name: String, type: String? = nil, primaryKey: String? = nil, _ properties: [PropertyInput]) {
        self.name = name
        self.type = type
        self.primaryKey = primaryKey
        self.properties = properties
    }
}
