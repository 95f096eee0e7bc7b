// SPDX-License-Identifier: Apache-2.0

/// The result of a check of a whole file.
///
/// Errors mean that data is or may be lost; warnings mean that a file differs from what writers
/// usually make. The texts are for people and name tables, columns and object keys, but no values.
package struct VerifyReport: Sendable {
    /// The errors that were found: the file is damaged. At most `maximumCount` are kept.
    package private(set) var errors: [String] = []
    /// The warnings: what writers are known to leave, and what is only unusual. At most
    /// `maximumCount` are kept.
    package private(set) var warnings: [String] = []
    /// What was counted during the check.
    package var statistics = Statistics()

    /// How many errors, and how many warnings, are kept; later ones are dropped.
    package static let maximumCount = 200

    /// The contents of a file in numbers.
    ///
    /// The numbers are 0 where the part of the check that counts them did not run.
    package struct Statistics: Sendable, Equatable {
        /// How many nodes are in use.
        package var nodes = 0
        /// How many bytes the nodes in use have.
        package var usedBytes: UInt64 = 0
        /// How many bytes the free blocks have.
        package var freeBytes: UInt64 = 0
        /// How many free blocks there are.
        package var freeBlocks = 0
        /// Bytes that are neither in use nor free: lost, but harmless.
        package var unaccountedBytes: UInt64 = 0
        /// The logical size of the file in bytes.
        package var logicalSize: UInt64 = 0
        /// How many tables there are, those of the SDK included.
        package var tables = 0
        /// How many objects all tables have, tombstones not counted.
        package var objects = 0
        /// How many tombstones there are: deleted objects that links still point to.
        package var tombstones = 0
        /// How many links there are between objects.
        package var links = 0
        /// How many objects all search indexes have, each counted as often as it is filed.
        package var indexEntries = 0
    }

    /// Whether no error was found.
    package var isClean: Bool { errors.isEmpty }

    /// Adds an error, which means that the file is damaged.
    mutating func error(_ text: String) {
        if errors.count < VerifyReport.maximumCount { errors.append(text) }
    }

    /// Adds a warning, which means that the file is unusual, but sound.
    mutating func warn(_ text: String) {
        if warnings.count < VerifyReport.maximumCount { warnings.append(text) }
    }

    /// Runs one part of the check; an error that it throws becomes an error of the report.
    ///
    /// - Parameters:
    ///   - what: The part, with which the message begins.
    ///   - body: The part; it adds to the report itself where it can continue.
    mutating func attempt(_ what: @autoclosure () -> String, _ body: (inout VerifyReport) throws(StorageError) -> Void) {
        do throws(StorageError) {
            try body(&self)
        } catch {
            self.error("\(what()): \(error)")
        }
    }
}

/// Verification of a version.
extension Snapshot {
    /// Checks the whole version: that every byte is used by one node or is free, and every table,
    /// object, link and index.
    ///
    /// It never throws: what cannot be read is an error of the report. Objects are checked only if
    /// the use of the bytes is sound.
    ///
    /// - Complexity: O(size of the file).
    package func verify() -> VerifyReport {
        var report = VerifyReport()
        guard !top.ref.isNone else { return report }
        report.statistics.logicalSize = top.logicalSize
        report.attempt("space") { (report) throws(StorageError) in try SpaceCheck(self).run(&report) }
        report.attempt("history") { (report) throws(StorageError) in try HistoryCheck(snapshot: self).run(&report) }
        // The contents of nodes that overlap or are shared are not worth comparing.
        guard report.isClean else { return report }
        report.attempt("names") { (report) throws(StorageError) in try LeafCheck.checkNames(self) }
        var objects = ObjectCheck(self)
        objects.run(&report)
        for table in tables { IndexCheck(table: table).run(&report) }
        return report
    }
}
