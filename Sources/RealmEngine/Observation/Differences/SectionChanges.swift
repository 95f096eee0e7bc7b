// SPDX-License-Identifier: Apache-2.0

/// The difference between two states of a result that is divided into sections.
package struct SectionChanges: Sendable, Equatable {
    /// A row by its section and its position in it.
    package struct Place: Sendable, Hashable, Comparable {
        /// The position of the section.
        package let section: Int
        /// The position of the row in the section.
        package let row: Int

        /// A place.
        package init(section: Int, row: Int) {
            self.section = section
            self.row = row
        }

        /// By section, then by row.
        package static func < (left: Place, right: Place) -> Bool { (left.section, left.row) < (right.section, right.row) }
    }

    /// A place in the same section, whatever number that has now, whose row was and is one that was written.
    package struct Modification: Sendable, Hashable {
        /// Where the row was.
        package let old: Place
        /// Where it is.
        package let new: Place
    }

    /// Sections before.
    package var sectionsToDelete: [Int] = []
    /// Sections after.
    package var sectionsToInsert: [Int] = []
    /// Rows before, none of deleted sections.
    package var deletions: [Place] = []
    /// Rows after, those of inserted sections too.
    package var insertions: [Place] = []
    /// Rows that stayed where they are in their section.
    package var modifications: [Modification] = []

    /// No difference.
    package init() {}

    /// Whether nothing is different.
    package var isEmpty: Bool {
        sectionsToDelete.isEmpty && sectionsToInsert.isEmpty && deletions.isEmpty && insertions.isEmpty
            && modifications.isEmpty
    }

    /// Divides the difference of two results among their sections.
    package static func make(flat: CollectionChanges, old: SectionMap, new: SectionMap) -> SectionChanges {
        SectionChangeMaker(old, new).make(flat)
    }

    /// What concerns the section whose key has a number.
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
