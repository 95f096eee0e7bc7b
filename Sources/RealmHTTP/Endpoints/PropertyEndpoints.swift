// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Reads of the properties of one object: single values, pages of collections, raw data, and the objects that link to it.
enum PropertyEndpoints {
    /// Answers `GET` and `QUERY …/{key}/{property}`.
    ///
    /// The property may be a path into embedded objects, or a name of linking objects. Collections
    /// are read like lists of objects; a data property can be read as raw bytes, also by a plain link.
    ///
    /// - Parameter call: The call, with class, key and property in its path.
    /// - Returns: The value, a page or the bytes; 304 when the client has that already, 204 for raw
    ///   bytes of a null property.
    /// - Throws: `object_not_found`, `not_found` for an unknown property, or the `Problem` of a
    ///   wrong parameter.
    static func get(_ call: Call) throws(Problem) -> Reply {
        // A link may accept nothing but pictures, so it is checked before the formats are negotiated.
        let read = Result { () throws(Problem) in
            try ReadParameters(ofBodyAnd: call, formats: [.documents, .rows, .octets])
        }
        if let link = DataLink(call.request) {
            let context = try ReadContext(call, snapshot: link.snapshot, version: link.version)
            if case .single(let target) = try CollectionTarget.property(context), let data = DataAnswer(target, context) {
                return .now(try data.linked(link))
            }
        }
        let parameters = try read.get()
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        switch try CollectionTarget.property(context) {
        case .collection(let target):
            guard parameters.format != .octets else { throw PropertyEndpoints.noBytes }
            return .now(try elements(of: target, parameters, context))
        case .single(let target):
            if parameters.format == .octets {
                guard let data = DataAnswer(target, context) else { throw PropertyEndpoints.noBytes }
                return .now(try data.octets())
            }
            return .now(try single(target, parameters, context))
        }
    }

    /// Answers `GET` and `QUERY …/{key}/@links/{Class}/{property}` with the objects that link to one object by that property.
    ///
    /// - Throws: `not_found` when that property does not exist or does not link to the class of the
    ///   object.
    static func links(_ call: Call) throws(Problem) -> Reply {
        let parameters = try ReadParameters(ofBodyAnd: call, formats: [.documents, .rows])
        let context = try ReadContext(call, snapshot: parameters.snapshot, version: parameters.version)
        return .now(try elements(of: try CollectionTarget.links(context), parameters, context))
    }

    /// Returns the elements of a collection that a request selects.
    private static func elements(
        of target: CollectionTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> Response {
        try CollectionPage(context: context, parameters: parameters, target: target)
            .answer(try target.writer(parameters, context))
    }

    /// Returns the value of a property that is not a collection, as `{"value":…,"version":…}`.
    ///
    /// - Throws: `conflicting_parameters` for parameters of collections, `not_acceptable` for
    ///   NDJSON and CSV.
    private static func single(
        _ target: PropertyTarget, _ parameters: ReadParameters, _ context: ReadContext
    ) throws(Problem) -> Response {
        try refuseCollectionParameters(parameters)
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
            try context.call.request.budget.requireRoom(for: writer.count)
        }
        context.writeVersion(to: &writer)
        writer.endObject()
        return context.answer(
            writer.buffer, type: parameters.representation.mediaType, etag: etag, notes: elementWriter.notes)
    }

    /// Rejects parameters that have a meaning for collections only.
    ///
    /// - Throws: `conflicting_parameters` with the name of the first such parameter.
    private static func refuseCollectionParameters(_ parameters: ReadParameters) throws(Problem) {
        let own = ["fields", "expand", "meta", "ints", "format", "snapshot", "version"]
        for name in parameters.given where !own.contains(name) {
            throw .conflict("'\(name)' has no meaning for a property that is not a collection", parameter: name)
        }
    }

    /// The problem of a request for raw bytes of anything but a single data property.
    private static let noBytes = Problem(.notAcceptable, "only a single data property can be returned as raw bytes")
}
