// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes a page of sections as a JSON document: `sections`, `next`, perhaps `count`, and the version.
struct SectionPage<Row> {
    /// The version that is read, and the request.
    let context: ReadContext
    /// The parameters of the request.
    let parameters: ReadParameters
    /// The entity tag of the response, in quotes.
    let etag: String
    /// The whole result.
    let sections: Sections<Row>
    /// The rows of the page, counted over all sections.
    let rows: Range<Int>

    /// Returns the page, which ends early when the response is full.
    ///
    /// - Parameters:
    ///   - write: Writes rows as elements of an array and returns the number that had room.
    ///   - notes: Returns the notes on values of the rows that could not be represented exactly.
    ///   - cursor: Makes the cursor behind a number of rows of the whole result.
    /// - Throws: The problem of a full answer when not even the first row had room.
    func answer(
        write: ([Row], inout JSONWriter) throws(Problem) -> Int, notes: () -> RepresentationNotes, cursor: (Int) -> String
    ) throws(Problem) -> Response {
        var values = ValueWriter(parameters.representation)
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.key("sections")
        writer.beginArray()
        let written = try writeSections(&values, to: &writer, write)
        writer.endArray()
        guard written > 0 || rows.isEmpty else { throw Problem(context.call.request.budget.stop ?? .expired) }
        let end = rows.lowerBound + written
        let total = sections.rowCount
        let next = written > 0 && end < total ? cursor(end) : nil
        let count = parameters.countsExactly ? total : nil
        try context.endPage(&writer, next, count: count, parameters.representation)
        var notes = notes()
        notes.formUnion(values.notes)
        var response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: notes)
        context.addPageHeaders(to: &response, next: next, count: count)
        return response
    }

    /// Writes sections until the response is full, and returns the number of written rows. A section of which no row had room is
    /// left out.
    private func writeSections(
        _ values: inout ValueWriter, to writer: inout JSONWriter, _ write: ([Row], inout JSONWriter) throws(Problem) -> Int
    ) throws(Problem) -> Int {
        var written = 0
        for section in sections.cut(rows) {
            let mark = writer.mark
            writer.beginObject()
            writer.key("key")
            section.key.write(&values, to: &writer)
            writer.key("items")
            writer.beginArray()
            let count = try write(section.rows, &writer)
            if count == 0 {
                writer.goBack(to: mark)
            } else {
                writer.endArray()
                writer.endObject()
            }
            written += count
            if count < section.rows.count { break }
        }
        return written
    }
}
