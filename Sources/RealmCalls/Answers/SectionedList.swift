// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Answers a list request with `sectionBy`: a result grouped into sections, page by page.
///
/// The whole result is grouped before a page is cut from it, and its keys are held in memory until then.
struct SectionedList {
    /// The request, with the class and the version that are read.
    let list: ObjectList

    /// The version that is read, and the request.
    private var context: ReadContext { list.context }
    /// The parameters of the request.
    private var parameters: ReadParameters { list.parameters }

    /// Returns the page of sections that the request selects.
    ///
    /// - Throws: The problems of the query and of `sectionBy`, `section_not_found`, and that of a
    ///   result with too many sections.
    func answer() throws(Problem) -> Response {
        try parameters.requireDocument()
        var grouping = try SectionGrouping(parameters.sectionBy ?? "")
        grouping.resolve(.objects(list.table), context.database.backlinkNames.mapping, in: context.snapshot)
        let query = try query(grouping)
        let sections = try sections(query, grouping).only(parameters.section)
        let total = sections.rowCount
        let start = min(try firstRow(sections), total)
        let encoder = ObjectEncoder(context.snapshot, parameters.representation, context.call.request.budget)
        let plan = try context.plan(list.table, parameters)
        let page = SectionPage(
            context: context, parameters: parameters, etag: list.etag, sections: sections,
            rows: sections.range(from: start, parameters))
        return try page.answer(
            write: { rows, writer throws(Problem) in
                try list.write(PageRows(keys: rows[...]), plan, encoder, to: &writer).written
            },
            notes: { encoder.notes }, cursor: { end in cursor(behind: end, sections) })
    }

    /// Returns the query, sorted by the section's key path. A sort in the request or in the text of
    /// the query has to begin with that path.
    ///
    /// - Throws: `conflicting_parameters` for any other sort.
    private func query(_ grouping: SectionGrouping) throws(Problem) -> ObjectQuery {
        if let first = parameters.sort.first {
            guard first.path == grouping.path else { throw SectionGrouping.wrongSort }
            return try list.query()
        }
        let isSortedByText = try ObjectQuery.parse(parameters.predicate, "where").hasDescriptors
        guard isSortedByText else {
            return try list.query(sort: [ReadParameters.SortTerm(grouping.path)])
        }
        let query = try list.query()
        guard let label = query.bound.sortLabels.first, label == grouping.path || label == "-" + grouping.path else {
            throw SectionGrouping.wrongSort
        }
        return query
    }

    /// Groups the whole result into sections.
    ///
    /// - Complexity: O(n) in the rows of the result, each of which is read once.
    /// - Throws: The problem of too many sections, or of keys that are longer in all than a response
    ///   may be.
    private func sections(_ query: ObjectQuery, _ grouping: SectionGrouping) throws(Problem) -> Sections<ObjectKey> {
        try grouping.requireValues(of: list.table, in: context.snapshot)
        let finder = ObjectFinder(list.table)
        var sections = Sections<ObjectKey>(context)
        for key in try query.keys() {
            guard let row = try Problem.stored(finder.find(key)) else { continue }
            try sections.add(key, to: try grouping.key(try query.position(of: row).cells.first ?? .missing))
        }
        return sections
    }

    // MARK: - Pages

    /// The identity that cursors of this request carry. It differs from that of the same list without sections.
    private var identity: UInt64 {
        parameters.identity(
            of: "sections/\(list.table.className ?? "")/\(context.database.name.text)", by: context.rightsIdentity)
    }

    /// Returns the cursor of the page after the first `end` rows.
    ///
    /// It names the last of these rows, and also their number, which is used when that row has left the result.
    private func cursor(behind end: Int, _ sections: Sections<ObjectKey>) -> String {
        let rows = sections.all.lazy.flatMap(\.rows)
        let key = rows.dropFirst(end - 1).first ?? .null
        return PageCursor(PagePosition(cells: [.value(.int(Int64(end)))], key: key)).text(identity: identity)
    }

    /// Returns the index of the page's first row, from `after` or `offset`.
    private func firstRow(_ sections: Sections<ObjectKey>) throws(Problem) -> Int {
        guard let after = parameters.after else { return parameters.offset ?? 0 }
        let position = try PageCursor(after, identity: identity).position
        var index = 0
        for section in sections.all {
            for key in section.rows {
                index += 1
                if key == position.key { return index }
            }
        }
        guard case .value(.int(let end))? = position.cells.first else { return 0 }
        return Int(clamping: end)
    }
}
