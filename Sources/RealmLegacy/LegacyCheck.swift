// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Checks a whole old file in its own terms: every node, every value, links against stored backlinks, and the use of all bytes.
struct LegacyCheck {
    /// The file.
    private let file: LegacyFile
    /// Can cancel the check.
    private let control: WorkControl?
    /// What was found.
    private var report = VerifyReport()
    /// The pass over all columns.
    private let reading: LegacyReading
    /// Sums of hashes of the links of each column, and of the backlinks of each column.
    private var links: [Place: UInt64] = [:], backlinks: [Place: UInt64] = [:]
    /// A number that makes sums unpredictable.
    private let seed = UInt64.random(in: .min ... .max)

    /// A column of links to a table.
    private struct Place: Hashable {
        /// The position of the table with the links, and the number of the column.
        let origin: Int, column: Int
        /// The position of the target table.
        let target: Int
    }

    /// How many rows are read at a time.
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
            for column in table.spec.columns {
                try control?.check()
                do throws(StorageError) {
                    try check(column, of: table)
                } catch {
                    guard case .corrupt = error else { throw error }
                    report.error("table '\(String(decoding: table.name, as: UTF8.self))', column \(column.index): \(error)")
                }
            }
        }
        compareLinks()
        try checkSpace()
        return report
    }

    /// Reports columns whose links differ from the backlinks that are stored for them. An old engine mixed these up, and nothing
    /// depends on them.
    private mutating func compareLinks() {
        for place in Set(links.keys).union(backlinks.keys) where links[place, default: 0] != backlinks[place, default: 0] {
            report.warn(
                "links of table \(place.origin), column \(place.column) differ from the backlinks in table \(place.target)")
        }
    }

    /// Checks that no two nodes share bytes, and that no free block lies on one.
    private mutating func checkSpace() throws(StorageError) {
        guard let top = file.top else { return }
        do throws(StorageError) {
            var audit = try SpaceAudit(top, file.space)
            let isComplete = try audit.run(keepingDecrypted: LegacyReading.keptByteCount) { [control] in
                control?.goesOn ?? true
            }
            if !isComplete { try control?.check() }
        } catch {
            guard case .refused(.unsound(let reason)) = error else { throw error }
            report.error(reason)
        }
    }

    // MARK: - Columns

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
                for element in elements {
                    try check(element, in: row, column, of: table)
                    row += 1
                    if reading.relieve() { try source.renew() }
                }
            } while !elements.isEmpty
        default:
            var source = try reading.values(of: column, at: root)
            var values: [Value?] = []
            repeat {
                try control?.check()
                values.removeAll(keepingCapacity: true)
                try reading.read(LegacyCheck.step, from: &source, into: &values)
                for value in values {
                    if column.type == .link, case .int(let target)? = value {
                        add(UInt64(bitPattern: target), of: row, column, table)
                    }
                    row += 1
                }
                reading.keeper.release()
                if reading.relieve() { try source.renew() }
            } while !values.isEmpty
        }
        guard row == table.rowCount else { throw table.uneven(column) }
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
            try LegacyLinks.forEach(inList: element, reading) { (rows) throws(StorageError) in
                try control?.check()
                for target in rows { add(target, of: row, column, table) }
            }
        default:
            guard element & 1 == 0 else { return addBacklink(element >> 1, of: row, column, table) }
            var source = LegacyRefs(Ref(element), reading)
            var origins: [UInt64] = []
            repeat {
                try control?.check()
                origins.removeAll(keepingCapacity: true)
                try source.read(LegacyCheck.step, into: &origins)
                for origin in origins { addBacklink(origin, of: row, column, table) }
            } while !origins.isEmpty
        }
    }

    /// Reads all values of a table inside of a row.
    private func checkRows(at ref: Ref, _ spec: LegacySpec) throws(StorageError) {
        let roots = try LegacyTable.roots(at: ref, spec, reading)
        guard !roots.isEmpty else { return }
        var counts: Set<Int> = []
        for column in spec.columns {
            var count = 0
            if [.table, .linkList, .backlink].contains(column.type) {
                var source = LegacyRefs(roots[column.slot], reading)
                var elements: [UInt64] = []
                repeat {
                    try control?.check()
                    elements.removeAll(keepingCapacity: true)
                    try source.read(LegacyCheck.step, into: &elements)
                    count += elements.count
                    guard let inner = column.subspec else { continue }
                    for element in elements where element != 0 { try checkRows(at: Ref(element), inner) }
                } while !elements.isEmpty
            } else {
                var source = try reading.values(of: column, at: roots[column.slot])
                var values: [Value?] = []
                repeat {
                    try control?.check()
                    values.removeAll(keepingCapacity: true)
                    try reading.read(LegacyCheck.step, from: &source, into: &values)
                    count += values.count
                } while !values.isEmpty
            }
            counts.insert(count)
        }
        guard counts.count <= 1 else { throw .corrupt(ref: ref, reason: "columns of \(counts.sorted()) values in one table") }
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
        let place = Place(origin: table.position, column: column.index, target: position)
        links[place, default: 0] &+= hash(UInt64(row), target)
    }

    /// Counts a backlink.
    private mutating func addBacklink(_ origin: UInt64, of row: Int, _ column: LegacyColumn, _ table: LegacyTable) {
        let place = Place(origin: column.target ?? -1, column: column.origin ?? -1, target: table.position)
        backlinks[place, default: 0] &+= hash(origin, UInt64(row))
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
