// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// Writes to a class: new objects, and many objects at once.
extension Application {
    /// `POST …/objects/{class}`: an object, or an array or lines of objects, all or none.
    func createObjects(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: WriteOptions.json + ["application/x-ndjson"], names: ["upsert", "nested"],
            honours: .init(returns: true, handling: true))
        let maker = ObjectMaker(
            className: target.name, policy: try ObjectMaker.policy(options.parameters), input: try options.input())
        let bodies = try ObjectBodies(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            switch bodies {
            case .one(let body): return try maker.makeOne(body, context)
            case .many(let objects, let lines): return try maker.makeMany(objects, lines, context)
            }
        }
        return try write.reply()
    }

    /// `PATCH …/objects/{class}?where=…`: a merge patch for every match.
    func patchObjects(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(
            call, types: ["application/merge-patch+json"] + WriteOptions.json,
            names: ["where", "args", "maxAffected", "nested"], honours: .init(returns: true, handling: true))
        let input = try options.input()
        let body = try ObjectBodies.one(call)
        let selection = try Selection(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let object = try body.value()
            let arguments = try selection.arguments(context)
            return WriteDraft.matched(
                try Problem.writing { () throws(WriteError) in
                    try context.session.patchWhere(
                        name, selection.query, arguments: arguments, maximum: selection.maximum, object, options: input)
                })
        }
        return try write.reply()
    }

    /// `DELETE …/objects/{class}?where=…`
    func deleteObjects(_ call: Call) throws(Problem) -> Reply {
        let target = try ClassTarget(call)
        let options = try WriteOptions(call, types: [], names: ["where", "args", "maxAffected"], honours: .init(returns: true))
        let selection = try Selection(call, options)
        try target.requireClass()
        try target.requireCondition(options.condition)
        let name = target.name
        let write = PreparedWrite(call: call, database: target.database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            let arguments = try selection.arguments(context)
            return WriteDraft.matched(
                try Problem.writing { () throws(WriteError) in
                    try context.session.deleteWhere(
                        name, selection.query, arguments: arguments, maximum: selection.maximum)
                })
        }
        return try write.reply()
    }

    /// `DELETE …/objects?confirm=all`: empties every class and keeps the schema.
    func deleteAllObjects(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: [], names: ["confirm"])
        switch try options.parameters.text("confirm") {
        case "all": break
        case nil:
            throw Problem(.missingWhere, "say 'confirm=all' to delete every object of this realm").with("parameter", "confirm")
        default: throw .invalidParameter("confirm", "'confirm' has to be 'all'")
        }
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return WriteDraft.matched(try Problem.writing { () throws(WriteError) in try context.session.deleteAllObjects() })
        }
        return try write.reply()
    }
}

extension WriteDraft {
    /// How many objects there were.
    static func matched(_ count: Int) -> WriteDraft {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.member("matched", int: count)
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }
}

extension WriteContext {
    /// Of many objects, only the version of the realm can be a condition.
    func requireNoObjectCondition() throws(Problem) {
        guard options.condition.concernsObject else { return }
        throw Problem(.preconditionFailed, "the only condition that can hold here is the version of the realm")
    }
}

/// The objects that a write of many is about.
struct Selection: Sendable {
    let query: Query
    let args: [JSONValue]
    let maximum: Int?

    init(_ call: Call, _ options: WriteOptions) throws(Problem) {
        let parameters = options.parameters
        guard let text = try parameters.text("where") else {
            throw Problem(.missingWhere, "say which objects are meant with 'where'; TRUEPREDICATE means all").with(
                "parameter", "where")
        }
        args = try Selection.args(try parameters.json("args", depthLimit: call.limits.jsonDepth), call.limits)
        maximum = try parameters.int("maxAffected", in: 0...Int.max)
        query = try Selection.query(text, call.limits)
        _ = try ArgumentDecoder(try call.database().current.snapshot).decode(args)
    }

    static func query(_ text: String, _ limits: Limits) throws(Problem) -> Query {
        guard text.utf8.count <= limits.queryBytes else {
            throw .overLimit(.invalidQuery, "a query may have at most \(limits.queryBytes) bytes", limit: limits.queryBytes)
                .with("parameter", "where")
        }
        return try ObjectQuery.parse(text, "where")
    }

    static func args(_ json: JSONValue?, _ limits: Limits) throws(Problem) -> [JSONValue] {
        guard let json else { return [] }
        guard let args = json.array else { throw .invalidParameter("args", "'args' is \(json.kind), but has to be an array") }
        guard args.count <= limits.queryArgs else {
            throw .overLimit(.invalidQuery, "at most \(limits.queryArgs) arguments are taken", limit: limits.queryArgs)
                .with("parameter", "args")
        }
        return args
    }

    /// The arguments, read against the state that is being written.
    func arguments(_ context: WriteContext) throws(Problem) -> [QueryArgument] {
        args.isEmpty ? [] : try ArgumentDecoder(try context.view()).decode(args)
    }
}

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
