// SPDX-License-Identifier: Apache-2.0

/// What a check of a whole file found.
///
/// Errors mean that data is or may be lost; warnings mean that a file differs from what writers usually make. The texts are for
/// people and name tables, columns and object keys, but no values.
package struct VerifyReport: Sendable {
    /// Damage. At most `maximumCount` are kept.
    package private(set) var errors: [String] = []
    /// What writers are known to leave, and what only looks odd.
    package private(set) var warnings: [String] = []
    /// What was counted on the way.
    package var statistics = Statistics()

    /// How many errors are kept; later ones are left out.
    package static let maximumCount = 200

    /// What a file holds.
    package struct Statistics: Sendable, Equatable {
        /// Nodes in use.
        package var nodes = 0
        /// Bytes of nodes in use.
        package var usedBytes: UInt64 = 0
        /// Bytes of free blocks.
        package var freeBytes: UInt64 = 0
        /// Free blocks.
        package var freeBlocks = 0
        /// Bytes that are neither in use nor free: lost, but harmless.
        package var unaccountedBytes: UInt64 = 0
        /// The logical size of the file in bytes.
        package var logicalSize: UInt64 = 0
        /// Tables, those of the SDK included.
        package var tables = 0
        /// Objects of all tables.
        package var objects = 0
        /// Deleted objects that are still linked to.
        package var tombstones = 0
        /// Links between objects.
        package var links = 0
        /// Objects in all search indexes, each as often as it is filed.
        package var indexEntries = 0
    }

    /// Whether no error was found.
    package var isClean: Bool { errors.isEmpty }

    /// Adds an error: the file is damaged.
    mutating func error(_ text: String) {
        if errors.count < VerifyReport.maximumCount { errors.append(text) }
    }

    /// Adds a warning: the file is unusual, but sound.
    mutating func warn(_ text: String) {
        if warnings.count < VerifyReport.maximumCount { warnings.append(text) }
    }

    /// Runs one part of the check; damage that stops it becomes an error of the report.
    mutating func attempt(_ what: @autoclosure () -> String, _ body: (inout VerifyReport) throws(StorageError) -> Void) {
        do throws(StorageError) {
            try body(&self)
        } catch {
            self.error("\(what()): \(error)")
        }
    }
}

/// Verifying a version.
extension Snapshot {
    /// Checks the whole version: that every byte is a node or free once, every table, object, link and index.
    ///
    /// Never throws: what cannot be read is an error of the report. Takes time that grows with the size of the file.
    package func verify() -> VerifyReport {
        var report = VerifyReport()
        guard !top.ref.isNone else { return report }
        checkSpace(&report)
        report.attempt("history") { (report) throws(StorageError) in try HistoryCheck(snapshot: self).run(&report) }
        // With nodes that overlap or are shared, what they hold cannot be trusted enough to be compared.
        guard report.isClean else { return report }
        report.attempt("names") { (report) throws(StorageError) in try LeafCheck.checkNames(self) }
        var objects = ObjectCheck(self)
        objects.run(&report)
        for table in tables { IndexCheck(table: table).run(&report) }
        return report
    }

    /// Checks only what writing relies on: that every node has one parent, and that nodes and free blocks tile the file.
    /// Where they do not, a commit would write over nodes in use, or give up a node that another part still needs.
    ///
    /// Reads the header of every node once, and the refs of those that have some. Takes a bit of memory for every 8 bytes of
    /// the file and 24 bytes for every node. `isClean` of the report is the verdict, `statistics` say how much there was.
    package func verifySpace() -> VerifyReport {
        var report = VerifyReport()
        guard !top.ref.isNone else { return report }
        checkSpace(&report)
        return report
    }

    /// Checks how the bytes of the file are used.
    private func checkSpace(_ report: inout VerifyReport) {
        report.statistics.logicalSize = top.logicalSize
        report.attempt("space") { (report) throws(StorageError) in try SpaceCheck(self).run(&report) }
    }
}
