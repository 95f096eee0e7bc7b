// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes objects in the form of an export. It is used by one thread at a time.
final class ExportLines: LineWriter {
    /// The limit of work and time per object.
    private let budget: WorkBudget
    /// The plans for the objects of each class.
    private let plans: [ObjectPlan]
    private let format: ExportFormat
    /// The format of an export and its options.
    struct Form: Sendable {
        /// NDJSON, JSON or CSV, which has room for one class.
        let format: ExportFormat
        /// The separator of cells in CSV for a spreadsheet; nil for CSV that can be imported.
        let separator: UInt8?
        /// The representation of objects.
        let representation: Representation
    }

    /// Writes objects as JSON.
    private let encoder: ObjectEncoder
    /// Writes objects as CSV; nil for the other formats.
    private let csv: CSVWriter?

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - plans: The plans for the objects of each class.
    ///   - snapshot: The version that they belong to.
    ///   - form: The format and its options.
    ///   - budget: The limit of work and time per object.
    init(_ plans: [ObjectPlan], _ snapshot: Snapshot, _ form: Form, budget: WorkBudget) {
        self.plans = plans
        self.budget = budget
        format = form.format
        encoder = ObjectEncoder(snapshot, form.representation, budget)
        csv = format == .csv ? plans.first.map { ExportLines.csv($0, snapshot, form, budget: budget) } : nil
    }

    /// Makes a writer of CSV.
    ///
    /// - Parameters:
    ///   - snapshot: The version that they belong to.
    ///   - form: The format and its options.
    ///   - budget: The limit of work and time per object.
    static func csv(_ plan: ObjectPlan, _ snapshot: Snapshot, _ form: Form, budget: WorkBudget) -> CSVWriter {
        let writer = CSVWriter(plan, snapshot, form.representation, budget: budget)
        if let separator = form.separator { writer.fitSpreadsheets(separator: separator) }
        return writer
    }

    func lines(of batch: RowBatch, in table: Table) throws(StorageError) -> BatchLines {
        // Other threads use the plan too, so references to it are not counted for each object.
        let plan = plans[batch.part]
        if let csv {
            return try BatchLines(batch, in: table, budget: budget) { row, buffer throws(StorageError) in
                try csv.write(row, to: buffer)
            }
        }
        return try BatchLines(batch, in: table, budget: budget) { row, buffer throws(StorageError) in
            try write(row, plan, to: buffer)
        }
    }

    /// Writes one object as JSON. In the JSON document it follows a comma.
    private func write(_ row: Row, _ plan: ObjectPlan, to buffer: OutputBuffer) throws(StorageError) {
        if format == .json { buffer.append(UInt8(ascii: ",")) }
        var writer = JSONWriter(buffer)
        try encoder.write(row, plan, to: &writer)
        if format == .ndjson { buffer.append(UInt8(ascii: "\n")) }
    }
}
