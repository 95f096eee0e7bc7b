// SPDX-License-Identifier: Apache-2.0

/// Where the rows of a result stand in its sections.
package struct SectionMap: Sendable, Equatable {
    /// A number for the key of each section: the same key has the same number in all maps of a result.
    package var sections: [Int] = []
    /// By position in the result.
    package var places: [SectionChanges.Place] = []
    /// How many rows each section has.
    package var counts: [Int] = []

    package init() {}

    /// Sections in the order of their first row; `keys` has a number for each row of the result.
    package init(rows keys: [Int]) {
        var known: [Int: Int] = [:]
        places.reserveCapacity(keys.count)
        for key in keys {
            let section = known[key] ?? sections.count
            if section == sections.count {
                known[key] = section
                sections.append(key)
                counts.append(0)
            }
            places.append(SectionChanges.Place(section: section, row: counts[section]))
            counts[section] += 1
        }
    }
}

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

    /// A row that is still in the same place of the same section, whatever number that has now.
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
        let before = old.sections.firstIndex(of: key), after = new.sections.firstIndex(of: key)
        var changes = SectionChanges()
        changes.sectionsToDelete = sectionsToDelete.filter { $0 == before }
        changes.sectionsToInsert = sectionsToInsert.filter { $0 == after }
        changes.deletions = deletions.filter { $0.section == before }
        changes.insertions = insertions.filter { $0.section == after }
        changes.modifications = modifications.filter { $0.new.section == after }
        return changes
    }
}

private struct SectionChangeMaker {
    private let old: SectionMap
    private let new: SectionMap
    /// Sections by the number of their key, without those that are deleted or inserted.
    private var oldSections: [Int: Int] = [:]
    private var newSections: [Int: Int] = [:]
    private var changes = SectionChanges()

    init(_ old: SectionMap, _ new: SectionMap) {
        self.old = old
        self.new = new
        let stay = SectionChangeMaker.staying(old.sections, new.sections)
        for (section, key) in old.sections.enumerated() {
            if stay.contains(key) { oldSections[key] = section } else { changes.sectionsToDelete.append(section) }
        }
        for (section, key) in new.sections.enumerated() {
            if stay.contains(key) { newSections[key] = section } else { changes.sectionsToInsert.append(section) }
        }
    }

    /// The keys of sections that are there before and after, without those that changed places with others.
    private static func staying(_ old: [Int], _ new: [Int]) -> Set<Int> {
        let flat = SequenceDiff.changes(
            from: old.map { Int64($0) }, to: new.map { Int64($0) }, isModified: nil, canReorder: true, isUnique: true)
        var stay = Set(old)
        for section in flat.deletions { stay.remove(old[section]) }
        return stay
    }

    func make(_ flat: CollectionChanges) -> SectionChanges {
        var changes = changes
        var deletions = Set<SectionChanges.Place>(), insertions = Set<SectionChanges.Place>()
        for index in flat.deletions { deletions.insert(old.places[index]) }
        for index in flat.insertions { insertions.insert(new.places[index]) }
        for (before, after) in zip(flat.modifications, flat.modificationsNew) {
            let place = new.places[after], oldPlace = old.places[before]
            if oldPlace.row == place.row, newSections[old.sections[oldPlace.section]] == place.section {
                changes.modifications.append(.init(old: oldPlace, new: place))
            } else {
                deletions.insert(oldPlace)
                insertions.insert(place)
            }
        }
        for section in changes.sectionsToInsert {
            for row in 0..<new.counts[section] { insertions.insert(SectionChanges.Place(section: section, row: row)) }
        }
        changes.deletions = deletions.filter { oldSections[old.sections[$0.section]] != nil }.sorted()
        changes.insertions = insertions.sorted()
        changes.modifications.sort { $0.new < $1.new }
        return changes
    }
}
