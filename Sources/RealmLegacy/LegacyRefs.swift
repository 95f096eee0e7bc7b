// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The elements of a column whose leaves hold refs and tagged numbers: lists of links, tables inside of rows, backlinks.
struct LegacyRefs {
    /// The elements as integers.
    private var values: LegacyValues
    /// The elements of one step, kept for their memory.
    private var step: [Value?] = []

    /// Makes a cursor in front of the first row.
    init(_ root: Ref, _ reading: LegacyReading) { values = LegacyValues(root, .int, isNullable: false, reading) }

    /// Appends the next elements.
    ///
    /// - Parameters:
    ///   - limit: How many; fewer are appended only at the end.
    ///   - elements: Receives them as they are stored: 0, a ref or a tagged number.
    mutating func read(_ limit: Int, into elements: inout [UInt64]) throws(StorageError) {
        step.removeAll(keepingCapacity: true)
        try values.read(limit, into: &step)
        for case .int(let element)? in step { elements.append(UInt64(bitPattern: element)) }
    }

    /// Decrypts the pages at the cursor's position again, after pages were released.
    func renew() throws(StorageError) { try values.renew() }
}
