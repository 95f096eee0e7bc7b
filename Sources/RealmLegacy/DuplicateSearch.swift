// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds out whether two rows have the same value in a column, in bounded memory and time: hashes are compared first, a part of them
/// at a time.
///
/// Different values take bytes of their own. So a column that continues after as many values as the file has room for has
/// duplicates, and no more rows are examined.
///
/// The positions of enumerated strings are compared first: rows with one position have one string. Where they all differ, each string
/// is read once, and the searches in all classes together read no more bytes of them than the file has.
struct DuplicateSearch {
    /// The old file.
    private let file: LegacyFile
    private let table: LegacyTable
    /// The column: integers or strings.
    private let column: LegacyColumn
    /// The pass in which all primary keys are read once.
    private let reading: LegacyReading
    /// Can cancel the work.
    private let control: WorkControl?
    /// How many rows have different values at most, as the size of the file allows.
    private let greatestCount: Int
    /// Whether positions of enumerated strings are compared, and not the strings.
    private var comparesPositions = false

    /// How many hashes are compared at a time at least.
    private static let leastPartSize = 2 << 20
    /// How many parts many hashes have, roughly. A hash takes 8 bytes, and so many parts of them no more than a quarter of the file.
    private static let divisor = 16
    /// How many rows are read at a time at most.
    private static let step = 1024
    /// How many different values may take less than `bytesPerValue` bytes of the file: integers, positions and texts of two bytes.
    private static let smallValueCount = 1 << 17
    /// How many bytes of the file each of the other values takes at least.
    private static let bytesPerValue = 4

    /// Makes a search; nothing is read yet.
    init(_ file: LegacyFile, _ table: LegacyTable, of column: LegacyColumn, _ reading: LegacyReading, control: WorkControl?) {
        self.control = control
        self.reading = reading
        self.file = file
        self.table = table
        self.column = column
        greatestCount = DuplicateSearch.smallValueCount + Int(clamping: file.space.limit) / DuplicateSearch.bytesPerValue
    }

    /// Returns how many rows have the value of an earlier row; null is a value too. Of many rows it is only how many were met when the
    /// search ended, which is one at least if there is any.
    ///
    /// - Throws: `.corrupt` for more different values than the file has room for.
    func duplicateCount() throws(StorageError) -> Int {
        guard column.type == .enumerated else { return try countOfDuplicates(reading) }
        var positions = self
        positions.comparesPositions = true
        let count = try positions.countOfDuplicates(reading)
        return count > 0 ? count : try countOfDuplicates(reading.anew)
    }

    /// Returns the same for the values, or for the positions of strings.
    ///
    /// - Parameter first: The pass that reads them first.
    private func countOfDuplicates(_ first: LegacyReading) throws(StorageError) -> Int {
        let rowCount = min(table.rowCount, greatestCount)
        let size = max(DuplicateSearch.leastPartSize, rowCount / DuplicateSearch.divisor)
        let partCount = rowCount / size + 1
        var settled: Set<Int> = []
        var (part, isComplete) = (0, true)
        var (pass, strings) = (first, comparesPositions || column.type != .enumerated ? nil : reading.budget)
        while part < partCount {
            let (hashes, isWhole) = try sortedHashes(part, of: partCount, size, except: settled, pass, counting: strings)
            // Bytes that are read again were counted before.
            (pass, strings) = (reading.anew, nil)
            guard let twins = DuplicateSearch.twins(in: hashes, except: settled) else {
                isComplete = isComplete && isWhole
                part += 1
                continue
            }
            if try isShared(twins.hash) { return twins.count }
            // Different values have this hash.
            settled.insert(twins.hash)
        }
        guard isComplete else {
            throw .corrupt(ref: table.root(of: column) ?? .none, reason: "more different values than the file has room for")
        }
        return 0
    }

    /// Returns the hashes of one part in ascending order, and whether all rows were read.
    ///
    /// - Parameters:
    ///   - size: How many different hashes a part has, roughly.
    ///   - settled: Hashes that different values have.
    ///   - strings: The budget for bytes of strings; nil where they are not counted.
    private func sortedHashes(
        _ part: Int, of partCount: Int, _ size: Int, except settled: Set<Int>, _ pass: LegacyReading,
        counting strings: LegacyBudget?
    ) throws(StorageError) -> (hashes: [Int], isWhole: Bool) {
        var hashes: [Int] = []
        hashes.reserveCapacity(min(table.rowCount, greatestCount, size))
        var limit = 2 * size
        let isWhole = try forEach(pass, counting: strings) { value in
            let hash = DuplicateSearch.hash(value)
            guard Int(hash.magnitude % UInt(partCount)) == part else { return true }
            hashes.append(hash)
            guard hashes.count >= limit else { return true }
            // The values of so many rows in one part are hardly all different.
            limit *= 2
            hashes.sort()
            return DuplicateSearch.twins(in: hashes, except: settled) == nil
        }
        hashes.sort()
        return (hashes, isWhole)
    }

    /// Returns a hash that is there twice, and how many hashes are those of an earlier row; nil when all differ.
    ///
    /// - Parameters:
    ///   - hashes: The hashes in ascending order.
    ///   - settled: Hashes that do not count.
    private static func twins(in hashes: [Int], except settled: Set<Int>) -> (hash: Int, count: Int)? {
        var found: (hash: Int, count: Int)?
        for (left, right) in zip(hashes, hashes.dropFirst()) where left == right && !settled.contains(left) {
            found = (left, (found?.count ?? 0) + 1)
        }
        return found
    }

    /// Returns whether two rows with a hash have the same value.
    private func isShared(_ hash: Int) throws(StorageError) -> Bool {
        var seen: [DetachedValue] = []
        var isFound = false
        _ = try forEach(reading.anew, counting: nil) { value in
            guard DuplicateSearch.hash(value) == hash else { return true }
            isFound = seen.contains { Value.order($0.value, value) == 0 }
            if !isFound { seen.append(DetachedValue(value)) }
            return !isFound
        }
        return isFound
    }

    /// Calls a closure with the values of the column in the order of rows, until it returns false or there were more of them, or more
    /// bytes of texts, than the file has room for if all differ.
    ///
    /// - Parameters:
    ///   - strings: The budget for bytes of strings; nil where they are not counted.
    /// - Returns: Whether all rows were read.
    private func forEach(
        _ pass: LegacyReading, counting strings: LegacyBudget?, _ body: (Value) -> Bool
    ) throws(StorageError) -> Bool {
        guard var source = try makeSource(pass) else { return true }
        defer { pass.keeper.release() }
        var values: [Value?] = []
        var (done, byteCount, step) = (0, UInt64(0), LegacyReading.firstStep)
        while true {
            try control?.check()
            values.removeAll(keepingCapacity: true)
            try pass.read(&step, upTo: DuplicateSearch.step, from: &source, into: &values)
            done += values.count
            guard !values.isEmpty else { break }
            for value in values {
                guard body(value ?? .null) else { return false }
                let length = value?.byteCount ?? 0
                byteCount += UInt64(length)
                guard byteCount <= file.space.limit, strings?.hasRoom(forTextOf: length) ?? true else { return false }
            }
            guard done <= greatestCount else { return false }
            pass.keeper.release()
            if pass.relieve() { try source.renew() }
        }
        guard done == table.rowCount else { throw table.uneven(column) }
        return true
    }

    /// Returns where the values come from, or the positions of strings; nil in a table without trees.
    private func makeSource(_ pass: LegacyReading) throws(StorageError) -> (any LegacySource)? {
        guard comparesPositions else { return try file.values(of: column, table, pass) }
        guard let root = table.root(of: column) else { return nil }
        return LegacyValues(root, .enumerated, isNullable: false, pass)
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
