// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Answers a request for a collection with `sectionBy`: its elements grouped into sections, page by
/// page. Null links are left out.
struct SectionedElements {
    /// The request for the collection.
    let page: CollectionPage
    /// The entity tag of the response, in quotes.
    let etag: String

    /// The version that is read, and the request.
    private var context: ReadContext { page.context }
    /// The parameters of the request.
    private var parameters: ReadParameters { page.parameters }

    /// Returns the page of sections that the request selects.
    ///
    /// - Throws: The problems of the query and of `sectionBy`, `section_not_found`, and that of a
    ///   result with too many sections.
    func answer(_ elementWriter: ElementWriter) throws(Problem) -> Response {
        try parameters.requireDocument()
        var grouping = try SectionGrouping(parameters.sectionBy ?? "")
        grouping.resolve(page.target.elements.subject, context.database.backlinkNames.mapping, in: context.snapshot)
        let sections = try sections(grouping).only(parameters.section)
        let elements = page.target.elements
        let result = SectionPage(
            context: context, parameters: parameters, etag: etag, sections: sections,
            rows: sections.range(from: min(try page.firstIndex(), sections.rowCount), parameters))
        return try result.answer(
            write: { positions, writer throws(Problem) in
                var written = 0
                try Problem.mapping { () throws(StorageError) in
                    for position in positions {
                        guard try elementWriter.fits(try elements.element(at: position), in: &writer) else { break }
                        written += 1
                    }
                }
                return written
            },
            notes: { elementWriter.notes }, cursor: { PageCursor(index: $0).text(identity: page.identity) })
    }

    /// Groups the selected elements by the keys of their sections, which the first sort key decides.
    private func sections(_ grouping: SectionGrouping) throws(Problem) -> Sections<Int> {
        if case .objects(let table) = page.target.elements.subject {
            try grouping.requireValues(of: table, in: context.snapshot)
        }
        let view = try view(grouping)
        let cell = try view.firstCells()
        var sections = Sections<Int>(context)
        for position in try view.selected() { try sections.add(position, to: try grouping.key(try cell(position))) }
        return sections
    }

    /// Returns the elements, sorted by the section's key path. A sort in the request or in the text
    /// of the query has to begin with that path.
    ///
    /// - Throws: `conflicting_parameters` for any other sort.
    private func view(_ grouping: SectionGrouping) throws(Problem) -> CollectionView {
        let isSortedByText = try ObjectQuery.parse(parameters.predicate, "where").hasDescriptors
        if let first = parameters.sort.first, first.path != grouping.path { throw SectionGrouping.wrongSort }
        let isSorted = isSortedByText || !parameters.sort.isEmpty
        let view = CollectionView(
            context: context, parameters: parameters, target: page.target,
            sort: isSorted ? nil : [ReadParameters.SortTerm(grouping.path)])
        guard try view.isSorted(by: grouping.path) else { throw SectionGrouping.wrongSort }
        return view
    }
}
