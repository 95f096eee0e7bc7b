// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Writes the elements of a collection as lines of NDJSON or CSV.
///
/// In CSV, objects have a column for each of their properties and values one column `value`; entries of dictionaries
/// begin with their `entry`. Used by one thread at a time.
final class ElementLines {
    private let elements: Elements
    private let writer: ElementWriter
    private let isCSV: Bool
    /// Nil for elements that are values.
    private let objects: CSVWriter?
    private let line = CSVLine()
    /// What the answer may cost.
    let budget: WorkBudget

    init(_ elements: Elements, _ writer: ElementWriter, _ context: ReadContext, parameters: ReadParameters) {
        self.elements = elements
        self.writer = writer
        budget = context.request.budget
        isCSV = parameters.format == .csv
        objects = writer.rowPlan.map {
            CSVWriter($0, context.snapshot, parameters.representation, budget: context.request.budget)
        }
    }

    /// The value of `Content-Type`.
    var mediaType: StaticString { RowLines.mediaType(isCSV: isCSV) }
    /// What the elements that were written lose in this representation.
    var notes: RepresentationNotes { writer.notes }

    /// What comes before the first row.
    func begin(in buffer: OutputBuffer) {
        guard isCSV else { return }
        let leading = elements.hasEntries ? ["entry"] : []
        if let objects { return objects.writeHeader(leading: leading, to: buffer) }
        for name in leading + ["value"] { line.add(name, to: buffer) }
        line.end(in: buffer)
    }

    /// Writes the line of one element of the collection.
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

extension ElementLines {
    /// Writes a row of a page, unless the answer is full before its end: then nothing of it is written.
    func fits(at index: Int, in buffer: OutputBuffer) throws(StorageError) -> Bool {
        try buffer.fits(budget) { () throws(StorageError) in
            try budget.spend()
            try write(at: index, to: buffer)
        }
    }
}
