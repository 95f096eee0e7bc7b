// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Counts the values of `facets` in a whole filtered result and writes them next to a page of it:
/// `"facets":{"city":[{"value":"Oslo","count":3}]}`, the most frequent value first. Where only the most frequent ones are shown,
/// the number of all is in `"facetValues":{"city":688}`.
struct FacetCounts {
    private let paths: [String]
    /// For each path its values with their numbers of rows.
    private let results: [GroupedResult]
    private let writer: GroupWriter
    /// For each path whether its values are mixed.
    private let isMixed: [Bool]
    /// The version that is read, and the request.
    private let context: ReadContext
    /// The form of numbers.
    private let representation: Representation

    /// Counts the requested facets; nil without any.
    ///
    /// - Parameters:
    ///   - parameters: The request, with its `facets`.
    ///   - subject: The counted rows: objects of a class, or values of a collection.
    ///   - context: The version that is read, and the request.
    ///   - group: Groups the whole result.
    /// - Throws: `invalid_parameter` for a repeated path, `not_acceptable` for lines, and the errors of `group`.
    init?(
        _ parameters: ReadParameters, of subject: Elements.Subject, _ context: ReadContext,
        _ group: ([GroupRequest]) throws(Problem) -> [GroupedResult]
    ) throws(Problem) {
        guard let paths = parameters.facets else { return nil }
        guard Set<ByteText>(texts: paths).count == paths.count else { throw .invalidParameter("facets", "a path is given twice") }
        try parameters.requireDocument()
        self.paths = paths
        self.context = context
        representation = parameters.representation
        let writer = GroupWriter(subject, context, parameters.representation)
        var keys: [GroupRequest.Key] = []
        for path in paths { keys.append(try writer.key(path, of: "facets")) }
        results = try group(keys.map { GroupRequest(by: [$0], atMost: context.limits.groups) })
        isMixed = keys.map { writer.isMixed($0.path) }
        self.writer = writer
    }

    /// Notes on values that could not be represented exactly so far.
    var notes: RepresentationNotes { writer.notes }

    /// Writes the member `facets` of an envelope.
    ///
    /// - Throws: The problem of a budget that is used up.
    func write(to json: inout JSONWriter) throws(Problem) {
        json.key("facets")
        json.beginObject()
        for (place, result) in results.enumerated() {
            json.key(paths[place])
            json.beginArray()
            let isMixed = isMixed[place]
            let budget = context.call.request.budget
            let order = result.order(by: [GroupedResult.SortTerm(.size, isAscending: false)]) { budget.continues }
            try context.call.request.checkDeadline()
            for index in order.prefix(context.limits.facetValues) {
                json.beginObject()
                json.key("value")
                try Problem.mapping { () throws(StorageError) in
                    try budget.spend()
                    try writer.write(result.keys[0][index], isMixed: isMixed, to: &json)
                }
                json.key("count")
                json.integer(result.sizes[index], representation)
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        writeTotals(to: &json)
    }

    /// Writes the numbers of values of the paths with omitted values, if there are such paths.
    private func writeTotals(to json: inout JSONWriter) {
        let cut = zip(paths, results).filter { $1.sizes.count > context.limits.facetValues }
        guard !cut.isEmpty else { return }
        json.key("facetValues")
        json.beginObject()
        for (path, result) in cut {
            json.key(path)
            json.integer(result.sizes.count, representation)
        }
        json.endObject()
    }
}
