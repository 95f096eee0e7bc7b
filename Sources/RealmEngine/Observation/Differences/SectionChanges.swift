// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The difference between two states of a result that is divided into sections.
package struct SectionChanges: Sendable, Equatable {
    /// The place of a row: its section, and its position in the section.
    package struct Place: Sendable, Hashable, Comparable {
        /// The position of the section among all sections.
        package let section: Int
        /// The position of the row in the section.
        package let row: Int

        /// Makes the place of a row in a section.
        package init(section: Int, row: Int) {
            self.section = section
            self.row = row
        }

        /// Orders by the section, then by the row.
        package static func < (left: Place, right: Place) -> Bool { (left.section, left.row) < (right.section, right.row) }
    }

    /// A row at the same position of the same section before and after, which has to be read again.
    /// The section itself may have another position after the change.
    package struct Modification: Sendable, Hashable {
        /// The place before the change.
        package let old: Place
        /// The place after the change.
        package let new: Place
    }

    /// The positions of removed sections before the change.
    package var sectionsToDelete: [Int] = []
    /// The positions of new sections after the change.
    package var sectionsToInsert: [Int] = []
    /// The places of removed rows before the change, without those of removed sections.
    package var deletions: [Place] = []
    /// The places of new rows after the change, including those of new sections.
    package var insertions: [Place] = []
    /// The rows that kept their position in their section and were modified.
    package var modifications: [Modification] = []

    /// Makes an empty difference.
    package init() {}

    /// Whether nothing has changed.
    package var isEmpty: Bool {
        sectionsToDelete.isEmpty && sectionsToInsert.isEmpty && deletions.isEmpty && insertions.isEmpty
            && modifications.isEmpty
    }

    /// Divides the difference of two results among their sections.
    ///
    /// - Parameters:
    ///   - flat: The difference of the rows without regard to sections.
    ///   - old: The sections before the change.
    ///   - new: The sections after the change.
    package static func make(flat: CollectionChanges, old: SectionMap, new: SectionMap) -> SectionChanges {
        SectionChangeMaker(old, new).make(flat)
    }

    /// Returns the part of the difference that concerns one section.
    ///
    /// - Parameters:
    ///   - key: The number of the section's key in both maps.
    ///   - old: The sections before the change.
    ///   - new: The sections after the change.
    package func only(_ key: Int, old: SectionMap, new: SectionMap) -> SectionChanges {
        let before = old.sections.firstIndex(of: key)
        let after = new.sections.firstIndex(of: key)
        var changes = SectionChanges()
        changes.sectionsToDelete = sectionsToDelete.filter { $0 == before }
        changes.sectionsToInsert = sectionsToInsert.filter { $0 == after }
        changes.deletions = deletions.filter { $0.section == before }
        changes.insertions = insertions.filter { $0.section == after }
        changes.modifications = modifications.filter { $0.new.section == after }
        return changes
    }
}
