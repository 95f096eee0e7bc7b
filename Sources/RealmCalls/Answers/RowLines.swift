// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Writes objects of one class as lines of NDJSON or CSV. It is used by one thread at a time.
final class RowLines: LineWriter {
    /// The plan for the objects: their properties, in order.
    private let plan: ObjectPlan
    /// Writes objects as JSON.
    private let encoder: ObjectEncoder
    /// The budget of the response, or of each line of a stream.
    private let budget: WorkBudget
    /// Writes objects as CSV; nil for NDJSON.
    private let csv: CSVWriter?

    /// Prepares the lines of objects of one class.
    ///
    /// - Parameters:
    ///   - plan: The properties to write.
    ///   - snapshot: The version that is read.
    ///   - parameters: The format and the representation.
    ///   - budget: The budget of the request.
    init(_ plan: ObjectPlan, _ snapshot: Snapshot, _ parameters: ReadParameters, budget: WorkBudget) {
        self.plan = plan
        self.budget = budget
        encoder = ObjectEncoder(snapshot, parameters.representation, budget)
        csv = parameters.format == .csv ? CSVWriter(plan, snapshot, parameters.representation, budget: budget) : nil
    }

    /// The value of the header field `Content-Type` for these lines.
    var mediaType: StaticString { (csv == nil ? ExportFormat.ndjson : .csv).mediaType }

    /// Notes on values that could not be represented exactly in the objects written so far.
    var notes: RepresentationNotes { encoder.notes }

    /// Writes the line of column names, which only CSV has.
    func begin(in buffer: OutputBuffer) { csv?.writeHeader(to: buffer) }

    func lines(of batch: RowBatch, in table: Table) throws(StorageError) -> BatchLines {
        try BatchLines(batch, in: table, budget: budget) { row, buffer throws(StorageError) in try write(row, to: buffer) }
    }

    /// Writes the line of one object.
    ///
    /// - Throws: An error of storage, or that the budget is used up.
    func write(_ row: Row, to buffer: OutputBuffer) throws(StorageError) {
        if let csv { return try csv.write(row, to: buffer) }
        var writer = JSONWriter(buffer)
        try encoder.write(row, plan, to: &writer)
        buffer.append(UInt8(ascii: "\n"))
    }
}

/// Writes lines of pages, which end early when the response is full.
extension RowLines {
    /// Writes the line of one object of a page, unless the response is full before its end. Then
    /// nothing of it is written, and false is returned.
    func fits(_ row: Row, in buffer: OutputBuffer) throws(StorageError) -> Bool {
        try buffer.fits(budget) { () throws(StorageError) in try write(row, to: buffer) }
    }
}
