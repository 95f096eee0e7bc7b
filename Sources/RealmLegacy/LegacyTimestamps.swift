// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The dates of a column: a tree of seconds, which always have a null marker, and one of nanoseconds.
struct LegacyTimestamps: LegacySource {
    /// The root of the column, which errors name.
    private let root: Ref
    /// The seconds; null where the date is.
    private var seconds: LegacyValues
    private var nanoseconds: LegacyValues
    /// Whether dates may be null.
    private let isNullable: Bool
    /// The parts of one step, kept for their memory.
    private var wholes: [Value?] = [], parts: [Value?] = []

    /// Makes a source in front of the first date.
    ///
    /// - Throws: `.corrupt` when the root has not two trees.
    init(_ root: Ref, isNullable: Bool, _ reading: LegacyReading) throws(StorageError) {
        let (first, second) = try LegacyTimestamps.trees(at: root, reading)
        self.root = root
        self.isNullable = isNullable
        seconds = LegacyValues(first, .int, isNullable: true, reading)
        nanoseconds = LegacyValues(second, .int, isNullable: false, reading)
    }

    /// Returns the roots of the two trees of a column of dates.
    static func trees(at root: Ref, _ reading: LegacyReading) throws(StorageError) -> (seconds: Ref, nanoseconds: Ref) {
        let node = try reading.refs(at: root, "dates")
        guard node.count == 2 else { throw node.corrupt("dates with \(node.count) slots") }
        return (try node.requiredRef(0, "seconds"), try node.requiredRef(1, "nanoseconds"))
    }

    /// Makes a date of its parts.
    ///
    /// - Throws: `.corrupt` for nanoseconds out of range, or of the other sign than the seconds.
    static func value(_ seconds: Value, _ nanoseconds: Value, _ root: Ref) throws(StorageError) -> Value {
        guard case .int(let whole) = seconds, case .int(let part) = nanoseconds else { return .null }
        guard abs(part) < 1_000_000_000, part == 0 || whole == 0 || (part < 0) == (whole < 0) else {
            let rule = "the nanoseconds must be below 10^9 and have the sign of the seconds"
            throw .corrupt(ref: root, reason: "invalid date: \(whole) seconds and \(part) nanoseconds; \(rule)")
        }
        return .timestamp(Timestamp(seconds: whole, nanoseconds: Int32(part)))
    }

    mutating func read(_ limit: Int, into values: inout [Value?]) throws(StorageError) {
        wholes.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        try seconds.read(limit, into: &wholes)
        try nanoseconds.read(limit, into: &parts)
        guard wholes.count == parts.count else { throw .corrupt(ref: root, reason: "as many seconds as nanoseconds expected") }
        for index in wholes.indices {
            let value = try LegacyTimestamps.value(wholes[index] ?? .null, parts[index] ?? .null, root)
            guard isNullable || !value.isNull else { throw .corrupt(ref: root, reason: "a null date in a column without nulls") }
            values.append(value)
        }
    }

    func renew() throws(StorageError) {
        try seconds.renew()
        try nanoseconds.renew()
    }
}
