// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Writes of a single object, or of one of its properties.
///
/// The body is decoded first; then the class is looked up, and conditions such as `If-Match` are
/// evaluated on the writer's thread against the state that the write changes.
enum ObjectWriteEndpoints {
    /// Answers `PUT …/objects/{class}/{key}`: creates the object, or replaces all of its properties.
    ///
    /// - Parameter call: The call, with the class and the key in its path.
    /// - Returns: A reply that is completed when the object is durable: 201 when it is new,
    ///   otherwise 200.
    /// - Throws: The `Problem` of a malformed body, an unknown class or a missing condition. A
    ///   failed condition is in the reply.
    static func put(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
        let input = try options.input()
        let body = try ObjectBodies.one(call)
        let key = try call.match[.key]
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let resolved = try Problem.written(context.session.resolve(.text(key), class: name))
            try context.check(options.condition, resolved.place)
            let object = try body.value()
            let written = try Problem.written(context.session.put(resolved, object, options: input))
            return try context.draft(written, className: name)
        }
        return try write.reply()
    }

    /// Answers `PATCH …/objects/{class}/{key}`: applies a merge patch or a JSON Patch, by the media type.
    ///
    /// - Parameter call: The call, with the class and the key in its path.
    /// - Returns: A reply that is completed when the changes are durable; 404 when there is no such
    ///   object.
    /// - Throws: The `Problem` of a malformed body, an unknown class or a missing condition.
    static func patch(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(returns: true, handling: true))
        let input = try options.input()
        let patch = try ObjectPatch(call, isJSONPatch: options.bodyType == .jsonPatch)
        let name = target.name
        return try change(call, target, with: options) { context, place throws(Problem) in
            let written = try patch.apply(to: place, context.session, input, at: InputPlace())
            return try context.draft(written, className: name)
        }
    }

    /// Answers `DELETE …/objects/{class}/{key}`: deletes the object and the embedded objects that it owns.
    ///
    /// - Parameter call: The call, with the class and the key in its path.
    /// - Returns: A reply with 204, completed when the deletion is durable; 404 when there is no
    ///   such object.
    /// - Throws: The `Problem` of an unknown class or a missing condition.
    static func delete(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call)
        return try change(call, target, with: options) { context, place throws(Problem) in
            try Problem.written(context.session.delete(place))
            return WriteDraft(status: 204, content: .none)
        }
    }

    /// Answers `PUT …/{key}/{property}`: sets one property to any JSON value, or a data property to raw bytes.
    ///
    /// - Parameter call: The call, with class, key and property in its path.
    /// - Returns: A reply with 204, completed when the value is durable. Problems of the value are
    ///   in it.
    /// - Throws: The `Problem` of a malformed body, an unknown class or a missing condition.
    static func setProperty(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, honours: .init(handling: true))
        let input = try options.input()
        let property = try call.match[.property]
        let value: Result<InputValue, InputReader.InputError>
        if options.bodyType == .bytes {
            try requireData(property, target, call)
            value = .success(.typed(.binary(call.request.body.bytes)))
        } else {
            let json = try call.request.body.takeJSON(call.limits.json)
            value = Result { () throws(InputReader.InputError) in try InputReader().value(json) }
        }
        return try change(call, target, with: options) { context, place throws(Problem) in
            let column: Column
            do throws(Problem) {
                column = try Problem.written(context.session.property(property, of: place))
            } catch {
                let isPath = property.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }
                guard isPath, error.status == 404 else { throw error }
                var error = error
                error.detail +=
                    "; a path can be read alone: PUT the whole property, or PATCH the object, elements of lists by a JSON Patch"
                throw error
            }
            let value = try value.value()
            try Problem.written(context.session.setProperty(column, of: place, to: value, options: input))
            return WriteDraft(status: 204, content: .none)
        }
    }

    /// Makes the reply to a write of an existing object.
    ///
    /// - Parameters:
    ///   - call: The call, with the key of the object in its path.
    ///   - options: The options of the request for the write, with its conditions.
    ///   - change: Changes the object and makes the response. It runs on the writer's thread, after the object was found and its
    ///     conditions hold.
    /// - Returns: A reply that is completed when the change is durable; 404 when there is no such
    ///   object, 412 when a condition does not hold.
    /// - Throws: The `Problem` of a malformed key, an unknown class or a missing condition.
    private static func change(
        _ call: Call, _ target: ClassTarget, with options: WriteOptions,
        _ change: @escaping @Sendable (WriteContext, ObjectPlace) throws(Problem) -> WriteDraft
    ) throws(Problem) -> Reply {
        let key = try call.match[.key]
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let place = try context.require(name, key)
            try context.check(options.condition, place)
            return try change(context, place)
        }
        return try write.reply()
    }

    /// Checks that raw bytes are sent for a single data property. An unknown property is reported later.
    ///
    /// - Throws: `unsupported_media_type` for a property of another type, or for a collection.
    private static func requireData(_ property: String, _ target: ClassTarget, _ call: Call) throws(Problem) {
        guard let table = target.shown.classTable(named: target.name),
            let column = table.column(named: property), column.type != .binary || column.collection != nil
        else { return }
        throw Problem(.unsupportedMediaType, "only a single data property can be set with raw bytes")
    }
}
