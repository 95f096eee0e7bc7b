// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Measures usual scans of a file with the storage layer alone, as a lower bound for the same queries.
struct LeafBenchmarks {
    /// Measures the time of each scan, with the number of runs that the options request.
    let harness: Harness
    /// The newest version of the measured file, which is scanned.
    let snapshot: Snapshot
    /// The table of the class `Item`.
    let table: Table

    /// Opens a file with the class `Item`.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - harness: Measures the times.
    /// - Throws: `StorageError` for a file that cannot be read, `BenchmarkError` for one
    ///   without the class.
    init(_ path: String, _ harness: Harness) throws {
        self.harness = harness
        snapshot = try Snapshot(file: try RealmFile(path: path))
        guard let table = snapshot.classTable(named: "Item") else { throw BenchmarkError.unsuitable("no class Item") }
        self.table = table
    }

    /// Measures all scans.
    ///
    /// - Parameter report: Receives the times in milliseconds.
    func run(_ report: inout Report) throws {
        let age = try column("age")
        let score = try column("score")
        let active = try column("active")
        report.begin("leaves alone, \(table.count) objects", comparedWith: "")
        try add("walk", &report) { try count { $0.allRows } }
        try add("age > 50", &report) { try count { try ints($0, age).compare(.greater, 50) } }
        try add("age in 30..<40, active, score > 500", &report) {
            try count { leaf in
                let ages = try ints(leaf, age)
                let actives = try bools(leaf, active).isEqual(to: true)
                let rows = ages.compare(.greaterOrEqual, 30) & ages.compare(.less, 40) & actives
                return try rows.isEmpty ? rows : rows & doubles(leaf, score).compare(.greater, 500, order: .ieee)
            }
        }
        try add("sum of score", &report) { try sum(score) { $0.allRows } }
        try add("sum of score of active", &report) { try sum(score) { try bools($0, active).isEqual(to: true) } }
        try add("greatest age", &report) { try count { Mask(first: Int(try ints($0, age).maximum($0.allRows) ?? 0)) } }
        let name = try column("name")
        let exact = BytePattern("an".utf8)
        let folded = BytePattern(upper: Array("AN".utf8), lower: Array("an".utf8))
        for (what, pattern) in [("name contains 'an'", exact), ("name contains 'an', any case", folded)] {
            try add(what, &report) { try count { try strings($0, name).contains(pattern, among: $0.allRows) } }
        }
        let city = try column("city")
        let wanted = BytePattern("Northburg".utf8)
        try add("city == 'Northburg', no index", &report) {
            try count { try strings($0, city).isEqual(to: wanted, among: $0.allRows) }
        }
        try add("first 20 names of age > 50", &report) {
            try topNames(name, 20) { try ints($0, age).compare(.greater, 50) }
        }
        try add("20 greatest scores", &report) { try top(score, 20) }
    }

    /// Returns a column of the class; throws `BenchmarkError` when there is none.
    private func column(_ name: String) throws -> Column {
        guard let column = table.column(named: name) else { throw BenchmarkError.unsuitable("no property \(name)") }
        return column
    }

    /// Measures one scan.
    ///
    /// - Parameters:
    ///   - report: Receives the time.
    ///   - body: The scan; its result keeps the work alive.
    private func add(_ name: String, _ report: inout Report, _ body: () throws -> Int) throws {
        report.add(name, .milliseconds, try harness.milliseconds { keep(try body()) })
    }

    /// Returns the number of rows that match, over all leaves.
    ///
    /// - Parameter rows: Returns the matching rows of a leaf.
    private func count(_ rows: (ClusterLeaf) throws -> Mask) throws -> Int {
        var count = 0
        var leaves = table.leaves()
        while let leaf = try leaves.next() { count += try rows(leaf).count }
        return count
    }

    /// Returns the sum of the values in matching rows, over all leaves.
    ///
    /// - Parameters:
    ///   - column: A column of doubles.
    ///   - rows: Returns the matching rows of a leaf.
    private func sum(_ column: Column, _ rows: (ClusterLeaf) throws -> Mask) throws -> Int {
        var total = RealSum()
        var leaves = table.leaves()
        while let leaf = try leaves.next() { try doubles(leaf, column).add(try rows(leaf), to: &total) }
        return Int(total.sum)
    }

    /// Finds the rows with the greatest values, and returns the key of the first one.
    ///
    /// - Parameters:
    ///   - column: A column of doubles.
    ///   - limit: The number of rows.
    private func top(_ column: Column, _ limit: Int) throws -> Int {
        var top = TopK(limit: limit)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let values = try doubles(leaf, column)
            let rows = top.worst.map { values.rows(.greater, $0.reversed) } ?? leaf.allRows
            rows.forEach { top.offer(values.orderKey($0).reversed, leaf.key(at: $0).rawValue) }
        }
        return Int(top.sorted().first?.row ?? 0)
    }

    /// Finds the matching rows with the smallest strings, and returns the key of the first one.
    ///
    /// - Parameters:
    ///   - column: A column of strings.
    ///   - rows: Returns the matching rows of a leaf.
    private func topNames(_ column: Column, _ limit: Int, _ rows: (ClusterLeaf) throws -> Mask) throws -> Int {
        var top = TopK(limit: limit)
        var leaves = table.leaves()
        while let leaf = try leaves.next() {
            let names = try strings(leaf, column)
            var candidates = try rows(leaf)
            if let worst = top.worst { candidates = try names.rows(.lessOrEqual, worst, among: candidates) }
            try candidates.forEach { top.offer(try names.orderKey($0), leaf.key(at: $0).rawValue) }
        }
        return Int(top.sorted().first?.row ?? 0)
    }

    /// Returns a column of a leaf as strings; throws `BenchmarkError` for another type.
    private func strings(_ leaf: ClusterLeaf, _ column: Column) throws -> StringLeaf {
        guard case .string(let values) = try leaf.attach(column) else { throw BenchmarkError.unsuitable("no strings") }
        return values
    }

    /// Returns a column of a leaf as integers; throws `BenchmarkError` for another type.
    private func ints(_ leaf: ClusterLeaf, _ column: Column) throws -> IntLeaf {
        guard case .int(let values) = try leaf.attach(column) else { throw BenchmarkError.unsuitable("no integers") }
        return values
    }

    /// Returns a column of a leaf as booleans; throws `BenchmarkError` for another type.
    private func bools(_ leaf: ClusterLeaf, _ column: Column) throws -> BoolLeaf {
        guard case .bool(let values) = try leaf.attach(column) else { throw BenchmarkError.unsuitable("no booleans") }
        return values
    }

    /// Returns a column of a leaf as doubles; throws `BenchmarkError` for another type.
    private func doubles(_ leaf: ClusterLeaf, _ column: Column) throws -> DoubleLeaf {
        guard case .double(let values) = try leaf.attach(column) else { throw BenchmarkError.unsuitable("no doubles") }
        return values
    }
}
