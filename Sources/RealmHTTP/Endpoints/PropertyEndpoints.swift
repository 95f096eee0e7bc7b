// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Properties of one object: values, pages of collections, and the objects that link to it.
struct PropertyEndpoints: Sendable {
    /// `GET …/{key}/{property}`: a value, or a page of a collection.
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

    /// `GET …/{key}/@links/{Class}/{property}`
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

    private func single(
        _ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> Response {
        try refuseCollectionParameters(context.call)
        guard !parameters.isTabular else {
            throw Problem(.notAcceptable, "a property that is no collection has no form as lines")
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

    /// Parameters that only a collection has a use for.
    private func refuseCollectionParameters(_ call: Call) throws(Problem) {
        let names = try QueryParameters(call.request.target)
        for name in ["where", "args", "sort", "distinct", "limit", "after", "offset", "count"] where names[name] != nil {
            throw .conflict("'\(name)' has no meaning for a property that is no collection", parameter: name)
        }
    }

    /// The bytes of a data property.
    private func octets(_ target: PropertyTarget, _ context: ReadContext) throws(Problem) -> Response {
        guard target.column.type == .binary, target.column.collection == nil else {
            throw Problem(.notAcceptable, "only a single data property has the form of raw bytes")
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
