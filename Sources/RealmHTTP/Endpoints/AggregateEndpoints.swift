// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Aggregates over the objects of a class or the elements of a collection: counts, minima, maxima, sums
/// and averages, of the whole result or in groups.
enum AggregateEndpoints {
    /// Answers `GET` and `POST …/aggregate/{class}`; with `POST` the parameters are members of the body.
    ///
    /// Without `ops` the objects are counted. Classes of up to 2000 objects are evaluated on the
    /// daemon's thread, larger ones by a worker.
    ///
    /// - Parameter call: The call, with the class in its path.
    /// - Returns: The result of each operation and the version, or 304 when the client has that
    ///   already.
    /// - Throws: The `Problem` of a wrong parameter, an unknown class, or an operation that the
    ///   type of a property does not permit.
    static func aggregate(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, formats: .documents)
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        let table = try context.table()
        let operations = try AggregateOperation.list(parameters.ops, of: .objects(table))
        let etag = context.versionTag(parameters.code)
        if call.isCurrent(etag) { return .now(context.unchanged(etag)) }
        return try Reply.reading(call, isShort: table.count <= 2000) { () throws(Problem) in
            let arguments = try ArgumentDecoder(context.snapshot).decode(parameters.args)
            // A sort is one of groups.
            let query = try ObjectQuery(parameters.unsorted, arguments, of: table, context)
            let numbers = AggregateNumbers(operations, of: .objects(table), context, parameters)
            guard let paths = parameters.groupBy else { return try numbers.answer(etag: etag, query.aggregate) }
            return try numbers.answer(groupedBy: paths, etag: etag) { requests throws(Problem) in
                try query.group(requests, "groupBy")
            }
        }
    }

    /// Answers `GET` and `POST …/{key}/{property}/@aggregate` for the elements of a collection.
    ///
    /// - Parameter call: The call, with the collection in its path.
    /// - Returns: The result of each operation and the version, or 304 when the client has that
    ///   already.
    /// - Throws: `conflicting_parameters` for a property that is no collection, and the problems of
    ///   `aggregate`.
    static func collection(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, formats: .documents)
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        guard case .collection(let target) = try CollectionTarget.property(context) else {
            throw Problem(.conflictingParameters, "only collections have aggregates, and this property has one value")
        }
        return .now(try answer(target, parameters, context))
    }

    /// Answers `GET` and `POST …/{key}/@links/{Class}/{property}/@aggregate` for linking objects.
    ///
    /// - Throws: The same problems as `collection`.
    static func links(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, formats: .documents)
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        return .now(try answer(try CollectionTarget.links(context), parameters, context))
    }

    /// Returns the aggregates of the elements that a request selects.
    private static func answer(
        _ target: CollectionTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> Response {
        let subject = target.elements.subject
        let operations = try AggregateOperation.list(parameters.ops, of: subject)
        let etag = context.versionTag(parameters.code)
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        let view = CollectionView(context: context, parameters: parameters.unsorted, target: target)
        let numbers = AggregateNumbers(operations, of: subject, context, parameters)
        guard let paths = parameters.groupBy else { return try numbers.answer(etag: etag, view.aggregate) }
        return try numbers.answer(groupedBy: paths, etag: etag) { requests throws(Problem) in
            try view.group(requests, "groupBy")
        }
    }
}

/// Leaves the order of groups out of the query.
extension ReadParameters {
    /// The same parameters without `sort`.
    fileprivate var unsorted: ReadParameters {
        var copy = self
        copy.selection.sort = []
        return copy
    }
}
