// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
internal import RealmStorage

/// The key of a section: its value, and a text that is different for every section.
package struct SectionIdentity: Sendable, Hashable {
    /// The text that identifies the section.
    package let text: String
    /// The value that clients receive as the key.
    package let value: QueryArgument

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - text: The text that identifies the section.
    ///   - value: The value that clients receive.
    package init(_ text: String, value: QueryArgument = .null) {
        self.text = text
        self.value = value
    }

    /// Returns whether both keys identify the same section; only the texts are compared.
    package static func == (left: SectionIdentity, right: SectionIdentity) -> Bool { left.text == right.text }

    /// Hashes the text only, in agreement with `==`.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
