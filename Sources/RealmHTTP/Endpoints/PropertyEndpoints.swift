// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Reads of the properties of one object: single values, pages of collections, raw data, and the
/// objects that link to it.
struct PropertyEndpoints: Sendable {
    /// Answers `GET …/{key}/{property}`.
    ///
    /// The property may be a path into embedded objects, or a name of linking objects. Collections
    /// are paged like lists; a data property can be read as raw bytes.
    ///
    /// - Parameter call: The call, with class, key and property in its path.
    /// - Returns: The value, a page or the bytes; 304 when the client has that already, 204 for raw
    ///   bytes of a null property.
    /// - Throws: `object_not_found`, `not_found` for an unknown property, or the `Problem` of a
    ///   wrong parameter.
    func get(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(call.request, call.limits, .collection, formats: [.documents, .rows, .octets])
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let row = try context.row(in: table)
        let name = try call.match[.property]
        if let linking = context.planner.linkingObjects(name, table) {
            return .now(try linkingObjects(linking, of: row, parameters, context))
        }
        let target = try PropertyTarget.find(name, from: row, in: table, context.snapshot)
        if parameters.format == .octets { return .now(try octets(target, context)) }
        guard target.column.collection != nil, target.element == nil else {
            return .now(try single(target, parameters, context))
        }
        let elements = try Problem.mapping { () throws(StorageError) in
            try Elements(target.column, of: target.row, in: target.table, context.snapshot)
        }
        let page = CollectionPage(context: context, parameters: parameters, elements: elements)
        return .now(try page.answer(try ElementWriter(target, parameters, context)))
    }

    /// Answers `GET …/{key}/@links/{Class}/{property}` with a page of the objects that link to one
    /// object by that property.
    ///
    /// - Throws: `not_found` when that property does not exist or does not link to the class of the
    ///   object.
    func links(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(call.request, call.limits, .collection, formats: [.documents, .rows])
        let context = try ReadContext(call, snapshot: parameters.snapshot)
        let table = try context.table()
        let row = try context.row(in: table)
        let origin = try call.match[.originClass]
        let property = try call.match[.originProperty]
        guard let linking = context.planner.linkingObjects("@links.\(origin).\(property)", table) else {
            throw Problem(.notFound, "no property of this name and class links to class \(table.className ?? "")")
        }
        return .now(try linkingObjects(linking, of: row, parameters, context))
    }

    /// Returns a page of the objects that link to a row.
    ///
    /// - Parameters:
    ///   - linking: The class of these objects, their linking property, and the backlink column
    ///     in the class of the row.
    ///   - row: The object that they link to.
    ///   - parameters: What the client requests.
    ///   - context: The version that is read.
    private func linkingObjects(
        _ linking: (origin: Table, column: Column, backlinks: Column), of row: Row, _ parameters: ReadParameters,
        _ context: ReadContext
    ) throws(Problem) -> Response {
        let elements = try Problem.mapping { () throws(StorageError) in
            try Elements(linkingTo: row, from: linking.origin, backlinks: linking.backlinks)
        }
        let writer = ElementWriter(objectsOf: linking.origin, try context.plan(linking.origin, parameters), parameters, context)
        return try CollectionPage(context: context, parameters: parameters, elements: elements).answer(writer)
    }

    /// Returns the value of a property that is not a collection, as `{"value":…,"version":…}`.
    ///
    /// - Throws: `conflicting_parameters` for parameters of collections, `not_acceptable` for
    ///   NDJSON and CSV.
    private func single(
        _ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> Response {
        try refuseCollectionParameters(context.call)
        guard !parameters.isTabular else {
            throw Problem(.notAcceptable, "a property that is not a collection cannot be returned as lines")
        }
        let etag = context.versionTag(parameters.representation.code)
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        let elementWriter = try ElementWriter(target, parameters, context)
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("value")
        try Problem.mapping { () throws(StorageError) in
            try elementWriter.writeSingle(target, to: &writer)
            try context.request.budget.requireRoom(for: writer.count)
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        return context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: elementWriter.notes)
    }

    /// Rejects parameters that have a meaning for collections only.
    ///
    /// - Throws: `conflicting_parameters` with the name of the first such parameter.
    private func refuseCollectionParameters(_ call: Call) throws(Problem) {
        let names = try QueryParameters(call.request.target)
        for name in ["where", "args", "sort", "distinct", "limit", "after", "offset", "count"] where names[name] != nil {
            throw .conflict("'\(name)' has no meaning for a property that is not a collection", parameter: name)
        }
    }

    /// Returns the bytes of a data property, as a file to download; 204 when it is null.
    ///
    /// - Throws: `not_acceptable` for any other property, or the problem of a value longer than a
    ///   response may be.
    private func octets(_ target: PropertyTarget, _ context: ReadContext) throws(Problem) -> Response {
        guard target.column.type == .binary, target.column.collection == nil else {
            throw Problem(.notAcceptable, "only a single data property can be returned as raw bytes")
        }
        let etag = context.versionTag("b1")
        if context.call.isCurrent(etag) { return context.unchanged(etag) }
        let value = try Problem.mapping { () throws(StorageError) in
            let value = try target.row.value(target.column)
            try context.request.budget.meet(byteCount: value.byteCount)
            return value
        }
        guard case .binary(let bytes) = value else {
            var response = Response(status: 204)
            context.addReadHeaders(to: &response, etag: etag)
            return response
        }
        try Problem.mapping { () throws(StorageError) in try context.request.budget.requireRoom(for: bytes.count) }
        let buffer = OutputBuffer(capacity: bytes.count)
        buffer.append(bytes)
        var response = context.answer(buffer, type: "application/octet-stream", etag: etag)
        response.add("Content-Disposition", constant: "attachment")
        return response
    }
}
