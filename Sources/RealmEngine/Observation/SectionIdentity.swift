// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery
internal import RealmStorage

/// The key of a section of an observed result.
package struct SectionIdentity: Sendable, Hashable {
    /// The value that the rows of the section have in common, by which keys are compared.
    package let value: GroupValue

    /// Makes a key of a value.
    package init(_ value: GroupValue) { self.value = value }

    /// Makes a key of a text.
    package init(_ text: String) { value = GroupValue(.string(text)) }
}
