// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Some of the types that the words of Mixed leaves state, so that values are distinguished without reading them.
package struct MixedTypes: Sendable {
    /// One bit for each number that a word may state: 0 for null, and one more than in `MixedEntry.Number` for all others.
    fileprivate let numbers: UInt32
    /// The numbers of values that may read as null, and those of no known type.
    fileprivate let unknown: UInt32

    /// Makes a set of types.
    ///
    /// - Parameter isMember: Whether a type belongs to it, asked by a value of that type.
    package init(_ isMember: (Value) -> Bool) {
        let samples: [(number: Int, sample: Value)] = [
            (MixedTypes.null, .null), (MixedEntry.Number.int, .int(0)), (MixedEntry.Number.bool, .bool(false)),
            (MixedEntry.Number.string, .string(.empty)), (MixedEntry.Number.binary, .binary(.empty)),
            (MixedEntry.Number.timestamp, .timestamp(Timestamp(seconds: 0, nanoseconds: 0))),
            (MixedEntry.Number.float, .float(0)), (MixedEntry.Number.double, .double(0)),
            (MixedEntry.Number.objectID, .objectID(ObjectID(first: 0, last: 0))),
            (MixedEntry.Number.uuid, .uuid(UUIDValue(first: 0, last: 0))),
        ]
        unknown = ~samples.reduce(0) { $0 | 1 << UInt32($1.number + 1) }
        numbers = samples.reduce(0) { $0 | (isMember($1.sample) ? 1 << UInt32($1.number + 1) : 0) }
    }

    /// The number of null, as all others are counted.
    private static let null = -1
}

extension MixedLeaf {
    /// Finds the values of some types.
    ///
    /// - Parameters:
    ///   - rows: The rows to look at, all of which the leaf must have.
    /// - Returns: The rows with a value of one of the types, and those whose values have to be read to know.
    package func rows(of types: MixedTypes, among rows: Mask) -> (found: Mask, others: Mask) {
        (self.rows(stating: types.numbers, among: rows), self.rows(stating: types.unknown, among: rows))
    }

    /// Returns the rows whose words state one of some numbers, which are bits.
    private func rows(stating numbers: UInt32, among rows: Mask) -> Mask {
        rows.filtered { numbers >> UInt32(truncatingIfNeeded: words[$0] & 0x1f) & 1 == 1 }
    }
}
