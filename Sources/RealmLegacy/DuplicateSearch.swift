// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Finds out whether two rows have the same value in a column, in bounded memory: hashes are compared first, a part of them at a time.
struct DuplicateSearch {
    /// The old file.
    private let file: LegacyFile
    /// The table.
    private let table: LegacyTable
    /// The column: integers or strings.
    private let column: LegacyColumn
    /// The pass in which all primary keys are read once.
    private let reading: LegacyReading
    /// Can cancel the work.
    private let control: WorkControl?

    /// How many hashes are compared at a time.
    private static let partSize = 2 << 20
    /// How many rows are read at a time.
    private static let step = 1024

    /// Makes a search; nothing is read yet.
    init(_ file: LegacyFile, _ table: LegacyTable, of column: LegacyColumn, _ reading: LegacyReading, control: WorkControl?) {
        self.control = control
        self.reading = reading
        self.file = file
        self.table = table
        self.column = column
    }

    /// Returns how many rows have the value of an earlier row; null is a value too.
    func duplicateCount() throws(StorageError) -> Int {
        let partCount = table.rowCount / DuplicateSearch.partSize + 1
        var suspects: Set<Int> = []
        for part in 0..<partCount {
            var hashes: [Int] = []
            hashes.reserveCapacity(min(table.rowCount, DuplicateSearch.partSize))
            try forEach(part == 0 ? reading : LegacyReading(file.space)) { value in
                let hash = DuplicateSearch.hash(value)
                if partCount == 1 || Int(hash.magnitude % UInt(partCount)) == part { hashes.append(hash) }
            }
            hashes.sort()
            // Some are enough to know that there are any.
            for (left, right) in zip(hashes, hashes.dropFirst()) where left == right && suspects.count < 1000 {
                suspects.insert(left)
            }
        }
        return suspects.isEmpty ? 0 : try confirmed(suspects)
    }

    /// Returns how many rows with one of these hashes have the value of an earlier row.
    private func confirmed(_ suspects: Set<Int>) throws(StorageError) -> Int {
        var seen: [Int: [DetachedValue]] = [:]
        var count = 0
        try forEach(LegacyReading(file.space)) { value in
            let hash = DuplicateSearch.hash(value)
            guard suspects.contains(hash) else { return }
            if seen[hash, default: []].contains(where: { Value.order($0.value, value) == 0 }) {
                count += 1
            } else {
                seen[hash, default: []].append(DetachedValue(value))
            }
        }
        return count
    }

    /// Calls a closure with every value of the column.
    private func forEach(_ reading: LegacyReading, _ body: (Value) -> Void) throws(StorageError) {
        guard var source = try file.values(of: column, table, reading) else { return }
        var values: [Value?] = []
        var done = 0
        while true {
            try control?.check()
            values.removeAll(keepingCapacity: true)
            try reading.read(DuplicateSearch.step, from: &source, into: &values)
            done += values.count
            guard !values.isEmpty else { break }
            for value in values { body(value ?? .null) }
            reading.keeper.release()
            if reading.relieve() { try source.renew() }
        }
        guard done == table.rowCount else { throw table.uneven(column) }
    }

    /// Returns a hash of a value, with a seed that differs from process to process.
    private static func hash(_ value: Value) -> Int {
        var hasher = Hasher()
        switch value {
        case .int(let number): hasher.combine(number)
        case .string(let text): hasher.combine(text)
        default: hasher.combine(0 as UInt8)
        }
        return hasher.finalize()
    }
}
