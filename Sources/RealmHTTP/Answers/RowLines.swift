// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Writes objects as lines of NDJSON or CSV.
///
/// Used by one thread at a time.
final class RowLines {
    private let plan: ObjectPlan
    private let encoder: ObjectEncoder
    let budget: WorkBudget
    private let csv: CSVWriter?

    init(_ plan: ObjectPlan, _ snapshot: Snapshot, _ parameters: ReadParameters, _ budget: WorkBudget) {
        self.plan = plan
        self.budget = budget
        encoder = ObjectEncoder(snapshot, parameters.representation, budget)
        csv = parameters.format == .csv ? CSVWriter(plan, snapshot, parameters.representation, budget: budget) : nil
    }

    var mediaType: StaticString { RowLines.mediaType(isCSV: csv != nil) }

    static func mediaType(isCSV: Bool) -> StaticString {
        isCSV ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson"
    }

    var notes: RepresentationNotes { encoder.notes }

    /// What comes before the first row.
    func begin(in buffer: OutputBuffer) { csv?.writeHeader(to: buffer) }

    func write(_ row: Row, to buffer: OutputBuffer) throws(StorageError) {
        if let csv { return try csv.write(row, to: buffer) }
        var writer = JSONWriter(buffer)
        try encoder.write(row, plan, to: &writer)
        buffer.append(UInt8(ascii: "\n"))
    }
}

extension RowLines {
    /// Writes a row of a page, unless the answer is full before its end: then nothing of it is written.
    func fits(_ row: Row, in buffer: OutputBuffer) throws(StorageError) -> Bool {
        try buffer.fits(budget) { () throws(StorageError) in try write(row, to: buffer) }
    }
}
