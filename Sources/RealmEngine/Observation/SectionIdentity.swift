// SPDX-License-Identifier: Apache-2.0

package import RealmQuery

/// The key of a section: a value, and the text that tells it from the keys of other sections.
package struct SectionIdentity: Sendable, Hashable {
    /// Keys with the same text are the same section.
    package let text: String
    /// The value that is shown as the key.
    package let value: QueryArgument

    package init(_ text: String, value: QueryArgument = .null) {
        self.text = text
        self.value = value
    }

    package static func == (left: SectionIdentity, right: SectionIdentity) -> Bool { left.text == right.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
