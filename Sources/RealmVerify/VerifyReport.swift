// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The result of a check of a whole file.
///
/// Errors mean that data is or may be lost; warnings mean that a file differs from what writers
/// usually make. The texts are for people and name tables, columns and object keys, but no values.
package struct VerifyReport: Sendable {
    /// The errors that were found: the file is damaged. At most `maximumCount` are kept.
    package private(set) var errors: [String] = []
    /// The warnings: known traces of writers, and harmless oddities. At most `maximumCount` are kept.
    package private(set) var warnings: [String] = []
    /// The counts of the check.
    package var statistics = Statistics()
    /// Can cancel the check; nil for one that runs to its end.
    let control: WorkControl?

    /// The maximum number of errors, and of warnings; later ones are dropped.
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

    /// Makes an empty report of a check that runs to its end.
    package init() { self.init(nil) }

    /// Makes an empty report of a check that can be cancelled.
    init(_ control: WorkControl?) { self.control = control }

    /// Throws when the check was cancelled. The parts of a check end with that error, and so does the check as a whole.
    func checkControl() throws(StorageError) { try control?.check() }

    /// Whether no error was found.
    package var isClean: Bool { errors.isEmpty }

    /// Adds an error, which means that the file is damaged. The text is made only if it is kept.
    package mutating func error(_ text: @autoclosure () -> String) {
        if errors.count < VerifyReport.maximumCount { errors.append(text()) }
    }

    /// Adds a warning, which means that the file is unusual, but sound. The text is made only if it is kept.
    package mutating func warn(_ text: @autoclosure () -> String) {
        if warnings.count < VerifyReport.maximumCount { warnings.append(text()) }
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
            let place = what()
            self.error("\(place): \(error)")
        }
    }
}

/// Verification of a version.
extension Snapshot {
    /// Checks the whole version: that every byte is used by one node or is free, and every table, object, link and index.
    ///
    /// It never throws: what cannot be read is an error of the report. Objects are checked only if
    /// the use of the bytes is sound. Most of a sound file is proved to be so by quick checks; what
    /// they do not prove is checked exactly, so that the report is the same.
    ///
    /// - Parameter isExact: Whether quick checks are left out, as tests of them need. It takes much
    ///   more time, and memory for every key and link.
    /// - Complexity: O(size of the file). It takes some bits of memory for each word of the file, and
    ///   a byte for each object of the largest class.
    package func verify(isExact: Bool = false) -> VerifyReport { verify(isExact: isExact, nil) }

    /// Checks the whole version as `verify(isExact:)` does, unless that is cancelled.
    ///
    /// - Parameter control: Can cancel the check.
    /// - Throws: The error of the control.
    package func verify(_ control: WorkControl) throws(StorageError) -> VerifyReport {
        let report = verify(isExact: false, control)
        try control.check()
        return report
    }

    /// Checks the whole version. After a cancellation the report is of no use.
    private func verify(isExact: Bool, _ control: WorkControl?) -> VerifyReport {
        var report = VerifyReport(control)
        guard !top.ref.isNone else { return report }
        // A view does not show all links and objects, so its sums would not be even.
        let isExact = isExact || space.linkFilter != nil || tables.contains { $0.rule != nil }
        report.statistics.logicalSize = top.logicalSize
        report.attempt("space") { (report) throws(StorageError) in
            if isExact || !SpaceProof.run(self, &report) { try SpaceCheck(self).run(&report) }
        }
        report.attempt("history") { (report) throws(StorageError) in try HistoryCheck(snapshot: self).run(&report) }
        // The contents of nodes that overlap or are shared are not worth comparing.
        guard report.isClean else { return report }
        report.attempt("names") { (report) throws(StorageError) in try LeafCheck.checkNames(self) }
        let proofs = checkObjects(isExact: isExact, &report)
        for table in tables { IndexCheck(table: table, proofs: proofs).run(&report) }
        return report
    }

    /// Checks all objects, and proves what can be proved about indexes meanwhile.
    private func checkObjects(isExact: Bool, _ report: inout VerifyReport) -> IndexProofs {
        var objects = ObjectCheck(self, isExact: isExact)
        objects.readKeys(&report)
        let hash = ProofHash()
        guard !isExact else {
            objects.run(hash, unique: [], &report)
            return IndexProofs()
        }
        let prover = IndexProver(self, keys: objects.live, hash, report.control)
        prover.startThread()
        let before = report
        objects.run(hash, unique: prover.candidates, &report)
        let proofs = prover.finish()
        let proved = tables.filter { proofs.provesUniqueness(of: $0) }.map(\.key)
        guard prover.candidates.isSubset(of: proved) else {
            // The sets of primary keys are needed after all.
            report = before
            objects.run(hash, unique: Set(proved), &report)
            return proofs
        }
        return proofs
    }
}
