// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Divides the difference of two results among their sections. It is used once, by `SectionChanges.make`.
struct SectionChangeMaker {
    /// The sections before the change.
    private let old: SectionMap
    /// The sections after the change.
    private let new: SectionMap
    /// The positions before the change of the sections that stayed, by the number of their key.
    private var oldSections: [Int: Int] = [:]
    /// The positions after the change of the sections that stayed, by the number of their key.
    private var newSections: [Int: Int] = [:]
    /// The difference so far, which contains the deleted and inserted sections.
    private var changes = SectionChanges()

    /// Determines which sections stayed, from the maps before and after the change.
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

    /// Returns the keys of the sections that exist before and after the change and did not change places with others.
    private static func staying(_ old: [Int], _ new: [Int]) -> Set<Int> {
        let flat = SequenceDiff.changes(
            from: old.map { Int64($0) }, to: new.map { Int64($0) }, isModified: nil, canReorder: true, isUnique: true)
        var stay = Set(old)
        for section in flat.deletions { stay.remove(old[section]) }
        return stay
    }

    /// Divides a difference of rows among the sections.
    ///
    /// - Parameter flat: The difference of the rows without regard to sections.
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

    /// Collects what happened in the sections that stayed, by their positions after the change.
    private func stayedSections(_ flat: CollectionChanges) -> [Int: StayedSection] {
        var stayed: [Int: StayedSection] = [:]
        /// Returns the new position of the section that an old row belongs to.
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
