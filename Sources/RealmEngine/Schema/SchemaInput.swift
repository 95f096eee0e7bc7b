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
