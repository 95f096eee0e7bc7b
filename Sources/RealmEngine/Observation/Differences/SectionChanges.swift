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
        let stayed = stayedSections(flat)
        for (section, key) in new.sections.enumerated() {
            func places(_ rows: [Int], in section: Int) -> [SectionChanges.Place] {
                rows.map { SectionChanges.Place(section: section, row: $0) }
            }
            guard let oldSection = oldSections[key] else {
                changes.insertions += places(Array(0..<new.counts[section]), in: section)
                continue
            }
            guard let rows = stayed[section] else { continue }
            let kept = rows.kept
            changes.deletions += places(rows.deletions(keeping: kept), in: oldSection)
            changes.insertions += places(rows.insertions(keeping: kept), in: section)
            changes.modifications += zip(places(kept, in: oldSection), places(kept, in: section)).map { .init(old: $0, new: $1) }
        }
        return changes
    }

    /// What happened in the sections that stay, by their places now.
    private func stayedSections(_ flat: CollectionChanges) -> [Int: StayedSection] {
        var stayed: [Int: StayedSection] = [:]
        /// The place now of the section of an old row.
        func section(_ place: SectionChanges.Place) -> Int? { newSections[old.sections[place.section]] }
        for place in flat.deletions.lazy.map({ old.places[$0] }) {
            if let section = section(place) { stayed[section, default: StayedSection()].deleted.append(place.row) }
        }
        for place in flat.insertions.lazy.map({ new.places[$0] }) {
            stayed[place.section, default: StayedSection()].inserted.append(place.row)
        }
        for (before, after) in zip(flat.modifications, flat.modificationsNew) {
            let oldPlace = old.places[before]
            let place = new.places[after]
            stayed[place.section, default: StayedSection()].writtenNow.append(place.row)
            guard let section = section(oldPlace) else { continue }
            stayed[section, default: StayedSection()].writtenBefore.append(oldPlace.row)
            if section == place.section, oldPlace.row == place.row { stayed[section]?.same.append(place.row) }
        }
        return stayed
    }
}

/// What happened in a section that is there before and after. All rows are ascending.
private struct StayedSection {
    /// Before.
    var deleted: [Int] = []
    /// After.
    var inserted: [Int] = []
    var writtenBefore: [Int] = []
    var writtenNow: [Int] = []
    /// Places at which the same row that was written stood and stands.
    var same: [Int] = []

    /// Places that are told as modified. A written row may stand where another one stood: whoever makes its place anew has
    /// the right row there, as long as the rows that are not told stay in line.
    var kept: [Int] {
        let now = Set(writtenNow)
        let both = writtenBefore.filter(now.contains)
        guard both.count > same.count else { return same }
        let deletions = deletions(keeping: both)
        let insertions = insertions(keeping: both)
        var nextDeletion = 0
        var nextInsertion = 0
        for row in both {
            while nextDeletion < deletions.count, deletions[nextDeletion] < row { nextDeletion += 1 }
            while nextInsertion < insertions.count, insertions[nextInsertion] < row { nextInsertion += 1 }
            if nextDeletion != nextInsertion { return same }
        }
        return both
    }

    func deletions(keeping kept: [Int]) -> [Int] { StayedSection.union(deleted, writtenBefore, without: kept) }
    func insertions(keeping kept: [Int]) -> [Int] { StayedSection.union(inserted, writtenNow, without: kept) }

    private static func union(_ rows: [Int], _ written: [Int], without kept: [Int]) -> [Int] {
        guard written.count > kept.count else { return rows }
        let kept = Set(kept)
        return (rows + written.filter { !kept.contains($0) }).sorted()
    }
}
