// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Counts, minima, maxima, sums and averages over the objects of a class.
struct AggregateEndpoints: Sendable {
    /// `GET` and `POST …/aggregate/{class}`
    func aggregate(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, .aggregate, formats: .documents)
        // What is asked for twice is answered once: members of an object have different names.
        var asked = Set<String>()
        let operations = try (parameters.ops ?? ["count"]).filter { asked.insert($0).inserted }
            .map { text throws(Problem) in try AggregateOperation(text) }
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        return try Reply.reading(call.request, isShort: table.count <= 2000) { () throws(Problem) in
            let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
            let query = try ObjectQuery(parameters, arguments, of: table, context)
            let (count, results) = try query.aggregate(operations.compactMap(\.request))
            let numbers = AggregateNumbers(table: table, context: context, representation: parameters.representation)
            return try numbers.answer(to: operations, count: count, results, etag: etag)
        }
    }
}
