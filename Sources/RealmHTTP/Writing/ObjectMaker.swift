// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Creates objects of one class, or writes into those that are there.
struct ObjectMaker: Sendable {
    let className: String
    /// Nil creates only.
    let policy: WriteSession.UpsertPolicy?
    let input: WriteSession.Options

    static func policy(_ parameters: ParameterSet) throws(Problem) -> WriteSession.UpsertPolicy? {
        switch try parameters.text("upsert") {
        case nil: return nil
        case "modified": return .modified
        case "all": return .all
        default: throw .invalidParameter("upsert", "'upsert' has to be one of: modified, all")
        }
    }

    func make(
        _ body: ObjectBodies.Reading, _ place: InputPlace, as name: String? = nil, _ session: WriteSession
    ) throws(Problem) -> WriteSession.Written {
        let object = try body.value(at: place)
        return try Problem.writing(place) { () throws(WriteError) in
            guard let policy else { return try session.create(className, object, as: name, options: input) }
            return try session.upsert(className, object, policy, as: name, options: input)
        }
    }

    func makeOne(_ body: ObjectBodies.Reading, _ context: WriteContext) throws(Problem) -> WriteDraft {
        let written = try make(body, InputPlace(), context.session)
        // Nothing can be asked of an object that is new, and of one that was there only that it is.
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

    func makeMany(_ bodies: [ObjectBodies.Reading], _ lines: [Int]?, _ context: WriteContext) throws(Problem) -> WriteDraft {
        try context.requireNoObjectCondition()
        var made: [WriteSession.Written] = []
        made.reserveCapacity(bodies.count)
        for (index, body) in bodies.enumerated() {
            if index & 0xff == 0xff { try Problem.writing { () throws(WriteError) in try context.session.checkDeadline() } }
            let place = lines.map { InputPlace(line: $0[index]) } ?? InputPlace().inside(index)
            made.append(try make(body, place, context.session))
        }
        return try draft(made, context)
    }

    private func draft(_ made: [WriteSession.Written], _ context: WriteContext) throws(Problem) -> WriteDraft {
        let view = try context.view()
        let created = made.count { $0.isCreated }
        var writer = JSONWriter(reservingCapacity: 64 + made.count * 12)
        writer.member("created", int: created)
        if policy != nil { writer.member("updated", int: made.count - created) }
        writer.key("keys")
        writer.beginArray()
        for one in made { writer.string(try context.keyText(one.place, in: view) ?? KeyText.text(one.place.object)) }
        writer.endArray()
        var draft = WriteDraft(status: policy == nil || created > 0 ? 201 : 200, content: .none)
        if context.options.showsObjects(byDefault: false) {
            draft.type = context.options.representation.mediaType
            writer.key("items")
            writer.beginArray()
            for one in made {
                let notes = try context.show(one.place, in: view, &writer).notes
                draft.notes.hasLossyDates = draft.notes.hasLossyDates || notes.hasLossyDates
                draft.notes.hasUnsafeIntegers = draft.notes.hasUnsafeIntegers || notes.hasUnsafeIntegers
            }
            writer.endArray()
        }
        draft.content = .members(writer.buffer)
        return draft
    }
}
