// SPDX-License-Identifier: Apache-2.0

/// A class as it is asked for, not checked yet.
package struct ClassInput: Sendable {
    /// The name without prefix.
    package var name: String
    /// `object` or `embedded`; nil means `object`.
    package var type: String?
    /// The name of the property that is the primary key; nil for none.
    package var primaryKey: String?
    /// In the order in which they are shown.
    package var properties: [PropertyInput]

    /// A class with its properties.
    package init(_ name: String, type: String? = nil, primaryKey: String? = nil, _ properties: [PropertyInput]) {
        self.name = name
        self.type = type
        self.primaryKey = primaryKey
        self.properties = properties
    }
}
