// SPDX-License-Identifier: Apache-2.0

package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Creates objects of one class, or updates those that exist already.
///
/// Requests that create objects and the operation `create` of batches use it. The functions that
/// write run on the writer's thread.
package struct ObjectMaker: Sendable {
    /// The name of the class, without the internal prefix `class_`.
    package let className: String
    /// Which properties of an existing object are written; nil when an existing key is an error (`duplicate_key`).
    package let policy: WriteSession.UpsertPolicy?
    /// The handling of inputs: nested objects and unknown members.
    package let input: WriteSession.Options

    package init(className: String, policy: WriteSession.UpsertPolicy?, input: WriteSession.Options) {
        self.className = className
        self.policy = policy
        self.input = input
    }

    /// Reads the parameter `upsert`: `modified` writes only properties whose values differ, `all`
    /// writes every member that is given.
    ///
    /// - Returns: The policy; nil when the parameter is absent.
    /// - Throws: `invalid_parameter` for any other word.
    package static func policy(_ parameters: ParameterSet) throws(Problem) -> WriteSession.UpsertPolicy? {
        switch try parameters.text("upsert") {
        case nil: return nil
        case "modified": return .modified
        case "all": return .all
        default: throw .invalidParameter("upsert", "'upsert' must be one of: modified, all")
        }
    }

    /// Writes one object.
    ///
    /// - Parameters:
    ///   - body: The input of the object, or the error in it, which is thrown here.
    ///   - place: The place of the object in the request body.
    ///   - name: A name under which later operations of the batch refer to the object; nil for
    ///     none.
    ///   - session: The transaction.
    /// - Returns: The place of the object, and whether it was created.
    package func make(
        _ body: InputReader.Reading, _ place: InputPlace, as name: String? = nil, _ session: WriteSession
    ) throws(Problem) -> WriteSession.Written {
        let object = try body.value(at: place)
        return try Problem.writing(place) { () throws(WriteError) in
            guard let policy else { return try session.create(className, object, as: name, options: input) }
            return try session.upsert(className, object, policy, as: name, options: input)
        }
    }

    /// Writes the only object of a request and returns the response for it.
    ///
    /// The conditions are compared after the object was written, because only then is it known
    /// whether the key existed: `If-None-Match` holds for a new object, `If-Match: *` for one that
    /// existed, and a list of entity tags never. A failed condition rolls the write back.
    package func makeOne(_ body: InputReader.Reading, _ context: WriteContext) throws(Problem) -> WriteDraft {
        let written = try make(body, InputPlace(), context.session)
        // A new object has no state to compare with, and of an existing one only the existence can be demanded.
        let isMet: Bool
        switch context.options.condition.ifMatch {
        case nil: isMet = context.options.condition.ifNoneMatch == nil || written.isCreated
        case .any: isMet = !written.isCreated
        case .states: isMet = false
        }
        guard isMet else {
            throw Problem(.preconditionFailed, "the object is not in the state that the request was made for")
        }
        return try context.draft(written, className: className)
    }

    /// Writes the objects of an array or of NDJSON in order, and returns the summary of them.
    ///
    /// The deadline is checked every 256 objects, or after each group of objects that are created together.
    ///
    /// - Parameters:
    ///   - lines: The line of each object in NDJSON, for errors; nil for an array, whose errors
    ///     have a pointer instead.
    ///   - context: The write in progress.
    package func makeMany(_ bodies: [InputReader.Reading], _ lines: [Int]?, _ context: WriteContext) throws(Problem) -> WriteDraft
    {
        try context.requireNoObjectCondition()
        var made: [WriteSession.Written] = []
        made.reserveCapacity(bodies.count)
        try makeAll(bodies[...], lines: lines, context, &made)
        return try draft(made, context)
    }

    /// Creates the objects of rows, and returns the summary of them.
    ///
    /// - Parameters:
    ///   - rows: The objects, as they are in an array.
    ///   - text: The array. It is read once more if not all objects can be created together.
    ///   - limits: The limits that apply to the text.
    ///   - context: The write in progress.
    package func makeRows(_ rows: ObjectRows, text: [UInt8], limits: Limits, _ context: WriteContext) throws(Problem)
        -> WriteDraft
    {
        try context.requireNoObjectCondition()
        var made: [WriteSession.Written] = []
        made.reserveCapacity(rows.count)
        while made.count < rows.count {
            let part = rows.part(made.count..<min(made.count + WriteSession.groupCount, rows.count))
            let places = try Problem.writing { () throws(WriteError) in
                try context.session.checkDeadline()
                return try context.session.createTogether(part)
            }
            guard let places else { break }
            made += places.map { WriteSession.Written(place: $0, isCreated: true) }
        }
        if made.count < rows.count {
            let bodies = try ObjectBodies.array(text, limits)
            try makeAll(bodies[made.count...], lines: nil, context, &made)
        }
        return try draft(made, context)
    }

    /// Writes objects in order.
    private func makeAll(
        _ bodies: ArraySlice<InputReader.Reading>, lines: [Int]?, _ context: WriteContext,
        _ made: inout [WriteSession.Written]
    ) throws(Problem) {
        func place(_ index: Int) -> InputPlace { lines.map { InputPlace(line: $0[index]) } ?? InputPlace().inside(index) }
        for start in stride(from: bodies.startIndex, to: bodies.endIndex, by: WriteSession.groupCount) {
            let range = start..<min(start + WriteSession.groupCount, bodies.endIndex)
            if let together = try makeTogether(bodies[range], { place(start + $0) }, context.session) {
                made.append(contentsOf: together)
                try Problem.written(context.session.checkDeadline())
                continue
            }
            for index in range {
                if index & 0xff == 0xff { try Problem.written(context.session.checkDeadline()) }
                made.append(try make(bodies[index], place(index), context.session))
            }
        }
    }

    /// Creates objects at once, if nothing about them depends on the others.
    ///
    /// - Parameters:
    ///   - place: Returns the place of an object in the request body.
    ///   - session: The transaction.
    /// - Returns: The objects; nil when they have to be written one after the other. Nothing is changed then.
    package func makeTogether(
        _ bodies: ArraySlice<InputReader.Reading>, _ place: (Int) -> InputPlace, _ session: WriteSession
    ) throws(Problem) -> [WriteSession.Written]? {
        var objects: [InputObject] = []
        objects.reserveCapacity(bodies.count)
        for body in bodies {
            guard case .success(let object) = body else { return nil }
            objects.append(object)
        }
        var failed: Int?
        do throws(WriteError) {
            return try session.createTogether(className, objects, mayExist: policy != nil, failed: &failed, options: input)
        } catch {
            throw Problem(error, at: failed.map(place) ?? InputPlace())
        }
    }

    /// Writes the summary of many objects: `created`, `updated` with an upsert policy, `keys`, and
    /// `items` when representations are preferred.
    ///
    /// The status is 200 if an upsert created no object, else 201.
    private func draft(_ made: [WriteSession.Written], _ context: WriteContext) throws(Problem) -> WriteDraft {
        let view = try context.view()
        let created = made.count { $0.isCreated }
        var writer = JSONWriter(reservingCapacity: 64 + made.count * 12)
        writer.member("created", int: created)
        if policy != nil { writer.member("updated", int: made.count - created) }
        writer.key("keys")
        writer.beginArray()
        for one in made {
            let known = try Problem.written(context.session.keyText(of: one.place))
            let key = known ?? KeyText.text(one.place.object)
            context.audit?.add(key: key)
            writer.string(key)
            try context.requireRoom(for: writer.count)
        }
        writer.endArray()
        var draft = WriteDraft(status: policy == nil || created > 0 ? 201 : 200, content: .none)
        if context.options.showsObjects(byDefault: false) {
            draft.type = context.options.representation.mediaType
            writer.key("items")
            writer.beginArray()
            for one in made where try context.isVisible(one.place, in: view) {
                draft.notes.formUnion(try context.show(one.place, in: view, &writer).notes)
            }
            writer.endArray()
        }
        draft.content = .members(writer.buffer)
        return draft
    }
}
