// SPDX-License-Identifier: Apache-2.0

package import RealmQuery
internal import RealmStorage

/// How a result is divided into sections.
package struct ObservedSections: Sendable {
    /// The key of the section of a row, from the first value that the result is sorted by. Throws `invalidSection` for a
    /// value that is no key.
    package let key: @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity
    /// Which section is observed; nil is all of them.
    package let isWanted: (@Sendable (SectionIdentity) -> Bool)?

    /// Sections by `key`, all of them or those that are wanted.
    package init(
        key: @escaping @Sendable (PagePosition.Cell) throws(ObservationError) -> SectionIdentity,
        isWanted: (@Sendable (SectionIdentity) -> Bool)? = nil
    ) {
        self.key = key
        self.isWanted = isWanted
    }
}
