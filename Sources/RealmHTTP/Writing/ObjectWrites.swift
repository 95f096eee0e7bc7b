// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Writes of one object.
extension Application {
    /// `PUT …/objects/{class}/{key}`
    func putObject(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: WriteOptions.json, names: ["nested"], honours: .init(returns: true, handling: true))
        let input = try options.input()
        let body = try ObjectBodies.one(call)
        let key = try call.match.required(5, "key")
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let resolved = try Problem.writing { () throws(WriteError) in
                try context.session.resolve(.text(key), class: name)
            }
            try context.check(options.condition, resolved.place)
            let object = try body.value()
            let written = try Problem.writing { () throws(WriteError) in
                try context.session.put(resolved, object, options: input)
            }
            return try context.draft(written, className: name)
        }
        return try write.reply()
    }

    /// `PATCH …/objects/{class}/{key}`: a merge patch, or a JSON Patch.
    func patchObject(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: ["application/merge-patch+json", "application/json-patch+json"] + WriteOptions.json,
            names: ["nested"], honours: .init(returns: true, handling: true))
        let input = try options.input()
        let patch = try ObjectPatch(call, isJSONPatch: options.bodyType == "application/json-patch+json")
        let key = try call.match.required(5, "key")
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let place = try context.require(name, key)
            try context.check(options.condition, place)
            let written = try patch.apply(to: place, context.session, input, at: InputPlace())
            return try context.draft(written, className: name)
        }
        return try write.reply()
    }

    /// `DELETE …/objects/{class}/{key}`
    func deleteObject(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, types: [])
        let key = try call.match.required(5, "key")
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let place = try context.require(name, key)
            try context.check(options.condition, place)
            try Problem.writing { () throws(WriteError) in try context.session.delete(place) }
            return WriteDraft(status: 204, content: .none)
        }
        return try write.reply()
    }

    /// `PUT …/{key}/{property}`: any JSON value, or the bytes of a data property.
    func putProperty(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: WriteOptions.json + ["application/octet-stream"], names: ["nested"], honours: .init(handling: true))
        let input = try options.input()
        let property = try call.match.required(6, "property")
        let value: Result<InputValue, InputReader.Mistake>
        if options.bodyType == "application/octet-stream" {
            try requireData(property, target, call)
            value = .success(.typed(.binary(call.request.body)))
        } else {
            let json = try call.request.takeJSON(limits)
            value = Result { () throws(InputReader.Mistake) in try InputReader().value(json) }
        }
        let key = try call.match.required(5, "key")
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options, isAboutObject: true) {
            context throws(Problem) in
            let place = try context.require(name, key)
            try context.check(options.condition, place)
            let column = try Problem.writing { () throws(WriteError) in try context.session.property(property, of: place) }
            let value = try value.value()
            try Problem.writing { () throws(WriteError) in
                try context.session.setProperty(column, of: place, to: value, options: input)
            }
            return WriteDraft(status: 204, content: .none)
        }
        return try write.reply()
    }

    /// Raw bytes are taken for a single data property only.
    private func requireData(_ property: String, _ target: ClassTarget, _ call: Call) throws(Problem) {
        guard let table = target.database.current.snapshot.classTable(named: target.name),
            let column = table.column(named: property), column.type != .binary || column.collection != nil
        else { return }
        throw Problem(.unsupportedMediaType, "only a single data property is given as raw bytes")
    }
}

extension WriteContext {
    /// The object of a key. Throws `class_not_found` without the class, `object_not_found` without the object.
    func require(_ className: String, _ key: String) throws(Problem) -> ObjectPlace {
        try Problem.writing { () throws(WriteError) in try session.require(.text(key), class: className) }
    }

    /// The answer to a write of one object.
    func draft(_ written: WriteSession.Written, className: String) throws(Problem) -> WriteDraft {
        let view = try view()
        let showsObject = options.showsObjects(byDefault: true)
        var writer = JSONWriter(reservingCapacity: 1024)
        let shown = showsObject ? try show(written.place, in: view, &writer) : try identify(written.place, in: view)
        var draft = WriteDraft(
            status: written.isCreated ? 201 : showsObject ? 200 : 204, etag: shown.etag,
            content: showsObject ? .document(writer.buffer) : .none, notes: shown.notes,
            type: options.representation.mediaType)
        if written.isCreated { draft.location = ObjectAddress.object(database.name.text, className, shown.key) }
        return draft
    }
}
