// SPDX-License-Identifier: Apache-2.0

/// A schema as it is asked for: names as they were written, not checked yet.
package struct SchemaInput: Sendable {
    /// Nil leaves the choice to the server.
    package var version: UInt64?
    /// In any order; links may lead forward.
    package var classes: [ClassInput]

    /// A schema with its version, if it has one.
    package init(version: UInt64? = nil, classes: [ClassInput]) {
        self.version = version
        self.classes = classes
    }
}
