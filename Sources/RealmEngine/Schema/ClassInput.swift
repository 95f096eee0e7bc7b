// SPDX-License-Identifier: Apache-2.0

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
