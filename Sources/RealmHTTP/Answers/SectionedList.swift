// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Answers a list request with `sectionBy`: a result grouped into sections, page by page.
///
/// Sections are in the order of their first row. The rows of a section stay together even where its
/// function does not keep the order of the values, as `:mod` does not. So the whole result is
/// grouped before a page is cut from it, and its keys are held in memory meanwhile.
struct SectionedList {
    /// The request, with the class and the version that are read.
    let list: ObjectList

    /// The version that is read, and the request.
    private var context: ReadContext { list.context }
    /// The parameters of the request.
    private var parameters: ReadParameters { list.parameters }

    /// The largest number of sections of a result, all of which are in memory while a page is cut.
    private static let maximumSections = 100_000

    /// The cost of a row and its key, in units of the work budget.
    private static let unitsPerRow = 16
    /// The number of bytes of a key that cost one unit of the work budget.
    private static let bytesPerUnit = 128

    /// A section with the object keys of its rows.
    private struct Section {
        /// The key that the rows have in common.
        let key: SectionKey
        /// The object keys of the rows, in the order of the result.
        var rows: [ObjectKey] = []
    }

    /// Returns the page of sections that the request selects.
    ///
    /// - Throws: The problems of the query and of `sectionBy`, `section_not_found`, and that of a
    ///   result with too many sections.
    func answer() throws(Problem) -> Response {
        try list.requireDocument()
        let grouping = try SectionGrouping(parameters.sectionBy ?? "")
        let query = try query(grouping)
        var sections = try sections(query, grouping)
        if let wanted = parameters.section { sections = try only(wanted, sections) }
        let total = sections.reduce(0) { $0 + $1.rows.count }
        let start = min(try firstRow(sections), total)
        let limit = parameters.limit ?? ReadParameters.defaultLimit
        let end = limit < total - start ? start + limit : total
        return try answer(
            SectionedList.cut(sections, start..<end), rows: end - start, parameters.countsExactly ? total : nil
        ) { progress in
            let end = start + progress.written
            return progress.written > 0 && end < total ? cursor(behind: end, sections) : nil
        }
    }

    /// Returns the query, sorted by the section's key path. A sort in the request or in the text of
    /// the query has to begin with that path.
    ///
    /// - Throws: `conflicting_parameters` for any other sort.
    private func query(_ grouping: SectionGrouping) throws(Problem) -> ObjectQuery {
        if let first = parameters.sort.first {
            guard first.path == grouping.path else { throw SectionedList.wrongSort }
            return try list.query()
        }
        let isSortedByText = try ObjectQuery.parse(parameters.predicate, "where").hasDescriptors
        guard isSortedByText else {
            return try list.query(sort: [ReadParameters.SortTerm(grouping.path)])
        }
        let query = try list.query()
        guard let label = query.bound.sortLabels.first, label == grouping.path || label == "-" + grouping.path else {
            throw SectionedList.wrongSort
        }
        return query
    }

    /// The problem of a sort that does not begin with the section's key path.
    private static let wrongSort = Problem.conflict(
        "the sort has to begin with the key path of the sections", parameter: "sectionBy")

    /// Groups the whole result into sections.
    ///
    /// - Complexity: O(n) in the rows of the result, each of which is read once.
    /// - Throws: The problem of too many sections, or of keys that are longer in all than an answer
    ///   may be.
    private func sections(_ query: ObjectQuery, _ grouping: SectionGrouping) throws(Problem) -> [Section] {
        try grouping.requireValues(of: list.table, in: context.snapshot)
        let finder = ObjectFinder(list.table)
        var sections: [Section] = []
        var indexes: [SectionKey: Int] = [:]
        var keyBytes = 0
        for key in try query.keys() {
            try Problem.mapping { () throws(StorageError) in try context.request.budget.spend(SectionedList.unitsPerRow) }
            guard let row = try Problem.mapping({ () throws(StorageError) in try finder.find(key) }) else { continue }
            let sectionKey = try grouping.key(try query.position(of: row).cells.first ?? .missing)
            // A long text is copied several times.
            try Problem.mapping { () throws(StorageError) in
                try context.request.budget.spend(sectionKey.byteCount / SectionedList.bytesPerUnit)
            }
            let index = indexes[sectionKey] ?? sections.count
            if index == sections.count {
                guard index < SectionedList.maximumSections else {
                    throw Problem.overLimit(
                        .answerTooLarge, "the result has more than \(SectionedList.maximumSections) sections",
                        limit: SectionedList.maximumSections)
                }
                keyBytes += sectionKey.byteCount
                guard keyBytes <= context.limits.answerBytes else {
                    throw Problem(WorkStop.tooManyBytes(limit: context.limits.answerBytes))
                }
                indexes[sectionKey] = index
                sections.append(Section(key: sectionKey))
            }
            sections[index].rows.append(key)
        }
        return sections
    }

    /// Returns the section that `section` names. Throws `section_not_found` when the result has
    /// none.
    private func only(_ wanted: ParameterSet.TextOrJSON, _ sections: [Section]) throws(Problem) -> [Section] {
        let found = sections.filter { section in
            switch wanted {
            case .text(let text): return section.key.text == text
            case .json(let value): return section.key.equals(value)
            }
        }
        guard !found.isEmpty else { throw Problem(.sectionNotFound, "the result has no section of this key") }
        return found
    }

    // MARK: - Pages

    /// The identity that cursors of this request carry. It differs from that of the same list
    /// without sections.
    private var identity: UInt64 {
        parameters.identity(of: "sections/\(list.table.className ?? "")/\(context.database.name.text)")
    }

    /// Returns the cursor of the page after the first `end` rows.
    ///
    /// It names the last of these rows, and also their number, which is used when that row has left
    /// the result.
    private func cursor(behind end: Int, _ sections: [Section]) -> String {
        let rows = sections.lazy.flatMap(\.rows)
        let key = rows.dropFirst(end - 1).first ?? .null
        return PageCursor(PagePosition(cells: [.value(.int(Int64(end)))], key: key)).text(identity: identity)
    }

    /// Returns the index of the page's first row, from `after` or `offset`.
    private func firstRow(_ sections: [Section]) throws(Problem) -> Int {
        guard let after = parameters.after else { return parameters.offset ?? 0 }
        let position = try PageCursor(after, identity: identity).position
        var index = 0
        for section in sections {
            for key in section.rows {
                index += 1
                if key == position.key { return index }
            }
        }
        guard case .value(.int(let end))? = position.cells.first else { return 0 }
        return Int(clamping: end)
    }

    /// Returns the rows of a range, in the sections to which they belong. Sections without rows in
    /// the range are left out.
    private static func cut(_ sections: [Section], _ range: Range<Int>) -> [Section] {
        var start = 0
        var result: [Section] = []
        for section in sections {
            let rows = range.clamped(to: start..<start + section.rows.count)
            if !rows.isEmpty {
                result.append(
                    Section(key: section.key, rows: Array(section.rows[rows.lowerBound - start..<rows.upperBound - start])))
            }
            start += section.rows.count
        }
        return result
    }

    /// Writes a page as a JSON document: `sections`, `next`, perhaps `count`, and the version.
    private func answer(
        _ sections: [Section], rows: Int, _ count: Int?, _ cursor: @escaping ObjectList.Cursor
    ) throws(Problem) -> Response {
        let encoder = ObjectEncoder(context.snapshot, parameters.representation, context.request.budget)
        var values = ValueWriter(parameters.representation)
        var writer = JSONWriter(reservingCapacity: 4096)
        writer.beginObject()
        writer.key("sections")
        writer.beginArray()
        let written = try write(sections, encoder, &values, to: &writer)
        writer.endArray()
        let next = try list.next(after: PageRows.Progress(written: written), of: rows, cursor)
        writer.member("next", text: next)
        if let count {
            writer.key("count")
            writer.integer(count, parameters.representation)
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        var notes = encoder.notes
        notes.formUnion(values.notes)
        var response = context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: list.etag, notes: notes)
        context.addPageHeaders(to: &response, next: next, count: count)
        return response
    }

    /// Writes sections until the answer is full, and returns how many rows were written. A section
    /// of which no row had room is left out.
    private func write(
        _ sections: [Section], _ encoder: ObjectEncoder, _ values: inout ValueWriter, to writer: inout JSONWriter
    ) throws(Problem) -> Int {
        let plan = try context.plan(list.table, parameters)
        var written = 0
        for section in sections {
            let mark = writer.mark
            writer.beginObject()
            writer.key("key")
            section.key.write(&values, to: &writer)
            writer.key("items")
            writer.beginArray()
            let count = try list.write(PageRows(keys: section.rows[...]), plan, encoder, to: &writer).written
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
