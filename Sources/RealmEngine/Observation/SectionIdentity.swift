// SPDX-License-Identifier: Apache-2.0

package import RealmQuery

/// The key of a section: a value, and a text that is different for every section.
package struct SectionIdentity: Sendable, Hashable {
    /// Keys with the same text are the same section.
    package let text: String
    /// The value that is shown as the key.
    package let value: QueryArgument

    /// A key that is written as `text`.
    package init(_ text: String, value: QueryArgument = .null) {
        self.text = text
        self.value = value
    }

    /// Whether both are the same section.
    package static func == (left: SectionIdentity, right: SectionIdentity) -> Bool { left.text == right.text }

    /// By the text alone, as `==`.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
