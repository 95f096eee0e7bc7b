// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmQuery

/// Describes how an observed result is divided into sections.
package struct ObservedSections: Sendable {
    /// Returns the section of a row, from the first value by which the result is sorted.
    ///
    /// It throws `invalidSection` for a value that cannot be the key of a section. It is called on the
    /// thread of the hub for every row.
    package let key: @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity
    /// Returns how well a section is the one that is observed, 0 if it is not; nil observes all sections.
    package let fit: (@Sendable (SectionIdentity) -> Int)?

    /// Makes a division into sections.
    ///
    /// - Parameters:
    ///   - key: Returns the section of a row from its first sort value.
    ///   - fit: Selects the observed section, the first one with the greatest number above 0; nil observes all.
    package init(
        key: @escaping @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity,
        fit: (@Sendable (SectionIdentity) -> Int)? = nil
    ) {
        self.key = key
        self.fit = fit
    }
}

/// The key of a section of an observed result.
package struct SectionIdentity: Sendable, Hashable {
    /// The value that the rows of the section have in common, by which keys are compared.
    package let value: GroupValue

    /// Makes a key of a value.
    package init(_ value: GroupValue) { self.value = value }

    /// Makes a key of a text.
    package init(_ text: String) { value = GroupValue(.string(text)) }
}
