// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes the elements of a collection as lines of NDJSON or CSV.
///
/// In CSV, elements that are objects have a column for each property, and values one column `value`. Entries of dictionaries
/// begin with a column `entry`. It is used by one thread at a time.
final class ElementLines {
    /// The collection whose elements are written.
    private let elements: Elements
    /// Writes elements as JSON, and values into cells.
    private let writer: ElementWriter
    /// Whether the lines are CSV, and not NDJSON.
    private let isCSV: Bool
    /// Writes elements that are objects as CSV, and is not used for NDJSON; nil for elements that are values.
    private let objects: CSVWriter?
    /// Builds the CSV lines of values.
    private let line = CSVLine()
    /// The budget of the response, or of each line of a stream.
    let budget: WorkBudget

    /// Prepares the lines of a collection.
    ///
    /// - Parameters:
    ///   - elements: The collection.
    ///   - context: The version that is read, and the request.
    ///   - parameters: The format and the representation.
    init(_ elements: Elements, _ writer: ElementWriter, _ context: ReadContext, parameters: ReadParameters) {
        self.elements = elements
        self.writer = writer
        budget = context.call.request.budget
        isCSV = parameters.format == .csv
        objects = writer.rowPlan.map {
            CSVWriter($0, context.snapshot, parameters.representation, budget: context.call.request.budget)
        }
    }

    /// The value of the header field `Content-Type` for these lines.
    var mediaType: StaticString { (isCSV ? ExportFormat.csv : .ndjson).mediaType }
    /// Notes on values that could not be represented exactly in the elements written so far.
    var notes: RepresentationNotes { writer.notes }

    /// Writes the line of column names, which only CSV has.
    func begin(in buffer: OutputBuffer) {
        guard isCSV else { return }
        let leading = elements.hasEntries ? ["entry"] : []
        if let objects { return objects.writeHeader(leading: leading, to: buffer) }
        for name in leading + ["value"] { line.add(name, to: buffer) }
        line.end(in: buffer)
    }

    /// Writes the line of one element.
    ///
    /// - Parameters:
    ///   - index: Its position in the collection, not in a filtered view.
    ///   - buffer: The target of the line.
    /// - Throws: An error of storage, or that the budget is used up.
    func write(at index: Int, to buffer: OutputBuffer) throws(StorageError) {
        let element = try elements.element(at: index)
        guard isCSV else {
            var json = JSONWriter(buffer)
            try writer.write(element, to: &json)
            buffer.append(UInt8(ascii: "\n"))
            return
        }
        let leading = element.entry.map { [ElementWriter.text(of: $0)] } ?? []
        if let objects { return try objects.write(try writer.row(of: element.value), leading: leading, to: buffer) }
        line.begin()
        for text in leading { line.add(text, to: buffer) }
        try line.add(to: buffer) { cell throws(StorageError) in try writer.fill(cell, element.value) }
        line.end(in: buffer)
    }
}

/// Writes lines of pages, which end early when the response is full.
extension ElementLines {
    /// Writes the line of one element of a page, unless the response is full before its end. Then
    /// nothing of it is written, and false is returned.
    func fits(at index: Int, in buffer: OutputBuffer) throws(StorageError) -> Bool {
        try buffer.fits(budget) { () throws(StorageError) in
            try budget.spend()
            try write(at: index, to: buffer)
        }
    }
}
