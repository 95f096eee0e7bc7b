// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

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
