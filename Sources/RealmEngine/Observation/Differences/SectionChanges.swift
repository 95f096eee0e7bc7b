// SPDX-License-Identifier: Apache-2.0

/// The difference between two states of a result that is divided into sections.
package struct SectionChanges: Sendable, Equatable {
    package struct Place: Sendable, Hashable, Comparable {
        package let section: Int
        package let row: Int

        package init(section: Int, row: Int) {
            self.section = section
            self.row = row
        }

        package static func < (left: Place, right: Place) -> Bool { (left.section, left.row) < (right.section, right.row) }
    }

    /// A place in the same section, whatever number that has now, whose row was and is one that was written.
    package struct Modification: Sendable, Hashable {
        package let old: Place
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
    package var modifications: [Modification] = []

    package init() {}

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
