// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Maps the rows of a result to its sections.
package struct SectionMap: Sendable, Equatable {
    /// The number of each section's key. The same key has the same number in all maps of a result.
    package var sections: [Int] = []
    /// The places of the rows, by their position in the result.
    package var places: [SectionChanges.Place] = []
    /// The number of rows of each section.
    package var counts: [Int] = []

    /// The memory in bytes that it takes.
    var byteCount: Int {
        places.capacity * MemoryLayout<SectionChanges.Place>.stride
            + (sections.capacity + counts.capacity) * MemoryLayout<Int>.stride
    }

    /// Makes a map without rows.
    package init() {}

    /// Makes the sections in the order of their first row.
    ///
    /// - Parameter keys: For each row of the result, the number of its section's key.
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
