// SPDX-License-Identifier: Apache-2.0

/// Where the rows of a result are in its sections.
package struct SectionMap: Sendable, Equatable {
    /// A number for the key of each section: the same key has the same number in all maps of a result.
    package var sections: [Int] = []
    /// By position in the result.
    package var places: [SectionChanges.Place] = []
    /// How many rows each section has.
    package var counts: [Int] = []

    /// No rows.
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
