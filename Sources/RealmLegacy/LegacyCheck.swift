// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage
package import RealmVerify

/// Checks a whole old file in its own terms: every node, every value, links against stored backlinks, and the use of all bytes.
struct LegacyCheck {
    private let file: LegacyFile
    /// Can cancel the check.
    private let control: WorkControl?
    private var report = VerifyReport()
    /// The pass over all columns.
    private let reading: LegacyReading
    /// The links of each column, and the backlinks of each column.
    private var links: [Place: Tally] = [:], backlinks: [Place: Tally] = [:]
    /// The values of the present column.
    private var tally = Tally()
    /// A number that makes sums unpredictable.
    private let seed = UInt64.random(in: .min ... .max)

    /// A column of links to a table.
    private struct Place: Hashable {
        /// The position of the table with the links, and the number of the column.
        let origin: Int, column: Int
        /// The position of the target table.
        let target: Int
    }

    /// Links or backlinks of a column.
    private struct Tally: Equatable {
        /// How many there are: more than were read where a list of backlinks is too long.
        var count = 0
        /// The sum of their hashes.
        var sum: UInt64 = 0
    }

    /// How many rows are read at a time at most.
    private static let step = 1024

    /// Makes a check; nothing is read yet.
    init(_ file: LegacyFile, _ control: WorkControl?) {
        self.file = file
        self.control = control
        reading = LegacyReading(file.space)
    }

    /// Checks everything.
    mutating func run() throws(StorageError) -> VerifyReport {
        report.statistics.tables = file.tables.count
        report.statistics.logicalSize = file.top?.logicalSize ?? 0
        for table in file.tables {
            report.statistics.objects += table.rowCount
            for column in table.spec.columns where column.type != .backlink { try examine(column, of: table) }
        }
        // A column cannot have more right backlinks than there are links.
        for table in file.tables {
            for column in table.spec.columns where column.type == .backlink { try examine(column, of: table) }
        }
        compareLinks()
        try checkSpace()
        return report
    }

    /// Reports columns whose links differ from the backlinks that are stored for them. An old engine mixed these up, and nothing
    /// depends on them.
    private mutating func compareLinks() {
        for place in Set(links.keys).union(backlinks.keys)
        where links[place, default: Tally()] != backlinks[place, default: Tally()] {
            report.warn(
                "links of table \(place.origin), column \(place.column) differ from the backlinks in table \(place.target)")
        }
    }

    /// Checks that no two nodes share bytes, and that no free block lies on one.
    private mutating func checkSpace() throws(StorageError) {
        guard let top = file.top else { return }
        do throws(StorageError) {
            var audit = try SpaceAudit(top, file.space, versionsRestart: true)
            let isComplete = try audit.run(keepingDecrypted: LegacyReading.keptByteCount) { [control] in
                control?.continues ?? true
            }
            if !isComplete { try control?.check() }
        } catch {
            guard case .refused(.unsound(let reason)) = error else { throw error }
            report.error(reason)
        }
    }

    // MARK: - Columns

    /// Checks a column, and reports its damage.
    private mutating func examine(_ column: LegacyColumn, of table: LegacyTable) throws(StorageError) {
        try control?.check()
        tally = Tally()
        defer { keepTally(of: column, table) }
        do throws(StorageError) {
            try check(column, of: table)
        } catch {
            guard case .corrupt = error else { throw error }
            report.error("table '\(String(decoding: table.name, as: UTF8.self))', column \(column.index): \(error)")
        }
    }

    /// Reads all values of a column, which has to have one for each row.
    private mutating func check(_ column: LegacyColumn, of table: LegacyTable) throws(StorageError) {
        guard let root = table.root(of: column) else { return }
        var row = 0
        switch column.type {
        case .table, .linkList, .backlink:
            var source = LegacyRefs(root, reading)
            var elements: [UInt64] = []
            repeat {
                try control?.check()
                elements.removeAll(keepingCapacity: true)
                try source.read(LegacyCheck.step, into: &elements)
                let before = reading.space.forgetCount
                for element in elements {
                    try check(element, in: row, column, of: table)
                    row += 1
                }
                if reading.relieve() || reading.space.forgetCount != before { try source.renew() }
            } while !elements.isEmpty
        default:
            _ = try LegacyCheck.readValues(of: column, at: root, reading, control) { values in
                for value in values {
                    if column.type == .link, case .int(let target)? = value {
                        add(UInt64(bitPattern: target), of: row, column, table)
                    }
                    row += 1
                }
            }
        }
        guard row == table.rowCount else { throw table.uneven(column) }
    }

    /// Reads the values of a column of one tree.
    ///
    /// - Parameter body: Gets the values, some at a time.
    /// - Returns: How many there are.
    private static func readValues(
        of column: LegacyColumn, at root: Ref, _ reading: LegacyReading, _ control: WorkControl?, _ body: ([Value?]) -> Void
    ) throws(StorageError) -> Int {
        var source = try reading.values(of: column, at: root)
        var values: [Value?] = []
        var (count, step) = (0, LegacyReading.firstStep)
        repeat {
            try control?.check()
            values.removeAll(keepingCapacity: true)
            try reading.read(&step, upTo: LegacyCheck.step, from: &source, into: &values)
            body(values)
            count += values.count
            reading.keeper.release()
            if reading.relieve() { try source.renew() }
        } while !values.isEmpty
        return count
    }

    /// Checks what a column of refs has for one row.
    private mutating func check(
        _ element: UInt64, in row: Int, _ column: LegacyColumn, of table: LegacyTable
    ) throws(StorageError) {
        guard element != 0 else { return }
        switch column.type {
        case .table:
            guard let spec = column.subspec, element & 1 == 0 else { throw table.uneven(column) }
            try checkRows(at: Ref(element), spec)
        case .linkList:
            try LegacyLinks.forEach(inList: element, reading, relieving: true) { (rows) throws(StorageError) in
                try control?.check()
                for target in rows { add(target, of: row, column, table) }
            }
        default: try checkBacklinks(element, of: row, column, table)
        }
    }

    /// Checks the stored backlinks of one row. They are not read any more when the column has more of them than there are links, by their
    /// stated number or by those that were read: nothing depends on them.
    private mutating func checkBacklinks(
        _ element: UInt64, of row: Int, _ column: LegacyColumn, _ table: LegacyTable
    ) throws(StorageError) {
        let greatest = links[LegacyCheck.place(ofBacklinks: column, table)]?.count ?? 0
        guard tally.count <= greatest else { return }
        guard element & 1 == 0 else { return addBacklink(element >> 1, of: row) }
        let count = try LegacyValues.statedCount(Ref(element), .int, isNullable: false, reading.unlimited)
        guard count <= greatest - tally.count else {
            tally.count = greatest + 1
            return
        }
        try LegacyLinks.forEach(inList: element, reading, relieving: true) { (origins) throws(StorageError) in
            try control?.check()
            guard tally.count <= greatest else { return }
            for origin in origins { addBacklink(origin, of: row) }
        }
    }

    /// Reads all values of a table inside of a row.
    private func checkRows(at ref: Ref, _ spec: LegacySpec) throws(StorageError) {
        let roots = try LegacyTable.roots(at: ref, spec, reading)
        guard !roots.isEmpty else { return }
        var counts: Set<Int> = []
        for column in spec.columns {
            counts.insert(
                [.table, .linkList, .backlink].contains(column.type)
                    ? try checkRefs(of: column, at: roots[column.slot])
                    : try LegacyCheck.readValues(of: column, at: roots[column.slot], reading, control) { _ in })
        }
        guard counts.count <= 1 else { throw .corrupt(ref: ref, reason: "columns of \(counts.sorted()) values in one table") }
    }

    /// Reads a column of refs of a table inside of a row.
    ///
    /// - Returns: How many elements it has.
    private func checkRefs(of column: LegacyColumn, at root: Ref) throws(StorageError) -> Int {
        var source = LegacyRefs(root, reading)
        var elements: [UInt64] = []
        var count = 0
        repeat {
            try control?.check()
            elements.removeAll(keepingCapacity: true)
            try source.read(LegacyCheck.step, into: &elements)
            count += elements.count
            let before = reading.space.forgetCount
            if let inner = column.subspec {
                for element in elements where element != 0 { try checkRows(at: Ref(element), inner) }
            }
            if reading.relieve() || reading.space.forgetCount != before { try source.renew() }
        } while !elements.isEmpty
        return count
    }

    // MARK: - Links

    /// Counts a link.
    private mutating func add(_ target: UInt64, of row: Int, _ column: LegacyColumn, _ table: LegacyTable) {
        report.statistics.links += 1
        let position = column.target ?? -1
        guard file.tables.indices.contains(position), target < UInt64(file.tables[position].rowCount) else {
            return report.warn(
                "table \(table.position), column \(column.index), row \(row): a link to row \(target), which does not exist")
        }
        tally.count += 1
        tally.sum &+= hash(UInt64(row), target)
    }

    /// Counts a backlink.
    private mutating func addBacklink(_ origin: UInt64, of row: Int) {
        tally.count += 1
        tally.sum &+= hash(origin, UInt64(row))
    }

    /// Returns the place of the links that a column of backlinks belongs to.
    private static func place(ofBacklinks column: LegacyColumn, _ table: LegacyTable) -> Place {
        Place(origin: column.target ?? -1, column: column.origin ?? -1, target: table.position)
    }

    /// Keeps the links or backlinks of a column.
    private mutating func keepTally(of column: LegacyColumn, _ table: LegacyTable) {
        switch column.type {
        case .link, .linkList:
            links[Place(origin: table.position, column: column.index, target: column.target ?? -1)] = tally
        case .backlink: backlinks[LegacyCheck.place(ofBacklinks: column, table)] = tally
        default: break
        }
    }

    /// Returns a number for a pair of rows; sums of them are hardly equal for different pairs.
    private func hash(_ origin: UInt64, _ target: UInt64) -> UInt64 {
        var value = (origin &* 0x9e37_79b9_7f4a_7c15) ^ seed
        value = (value ^ (value >> 29)) &* 0xbf58_476d_1ce4_e5b9 &+ target &* 0x94d0_49bb_1331_11eb
        value = (value ^ (value >> 32)) &* 0xd6e8_feb8_6659_fd93
        return value ^ (value >> 32)
    }
}

/// Checks of old files.
extension LegacyFile {
    /// Checks the whole file in its own terms.
    ///
    /// - Parameter control: Can cancel the check.
    /// - Returns: Errors mean damage; warnings are what old engines are known to leave.
    package func verify(_ control: WorkControl? = nil) throws(StorageError) -> VerifyReport {
        var check = LegacyCheck(self, control)
        return try check.run()
    }
}
