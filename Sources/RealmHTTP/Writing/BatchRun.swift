// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

extension Application {
    /// `POST …/batch`: operations in order, all or none.
    func batch(_ call: Call) throws(Problem) -> Reply {
        let database = try call.database()
        let options = try WriteOptions(call, types: WriteOptions.json, honours: .init(returns: true, handling: true))
        let operations = try BatchReader(limits).read(call.request)
        let write = PreparedWrite(call: call, database: database, options: options) { context throws(Problem) in
            try context.requireNoObjectCondition()
            return try BatchRun(context, limits: call.limits).run(operations)
        }
        return try write.reply()
    }
}

/// The operations of a batch, one after the other. Each sees what those before it did.
final class BatchRun {
    private let context: WriteContext
    private let limits: Limits
    private var results: [Outcome] = []
    /// Keys of objects that an operation may have deleted since: as they were before the first such operation behind theirs.
    private var knownKeys: [Int: String] = [:]
    /// Results whose keys were looked up.
    private var knownCount = 0

    private var session: WriteSession { context.session }

    /// What is told of an operation; objects are looked up when all is done.
    private enum Outcome {
        case object(ObjectPlace, isCreated: Bool?, shows: Bool)
        case deleted(key: String)
        case matched(Int)
        case value(ObjectPlace, Value)
        case count(ObjectPlace, Int)
    }

    init(_ context: WriteContext, limits: Limits) {
        self.context = context
        self.limits = limits
    }

    func run(_ operations: [BatchOperation]) throws(Problem) -> WriteDraft {
        results.reserveCapacity(operations.count)
        for operation in operations {
            try Problem.writing { () throws(WriteError) in try session.checkDeadline() }
            do throws(Problem) {
                results.append(try perform(operation))
            } catch {
                throw operation.place.describe(error, hasPointer: false)
            }
        }
        return try draft()
    }

    // MARK: - Operations

    private func perform(_ operation: BatchOperation) throws(Problem) -> Outcome {
        let place = operation.place
        switch operation.kind {
        case .create(let className, let body, let name, let policy, let nested):
            let maker = ObjectMaker(className: className, policy: policy, input: input(nested))
            let written = try maker.make(body, place.inside("body"), as: name, session)
            return .object(written.place, isCreated: written.isCreated, shows: true)
        case .put(let target, let body, let nested): return try put(target, body, nested, place)
        case .patch(let target, let patch, let nested):
            try require(target, place)
            let written = try patch.apply(to: target.className, target.key, session, input(nested), place.inside("body"))
            return .object(written.place, isCreated: nil, shows: true)
        case .delete(let target): return try delete(target, place)
        case .increment(let target, let property, let amount): return try increment(target, property, amount, place)
        case .patchWhere, .deleteWhere, .assertObject, .assertCount: return try performQuery(operation)
        case .list, .set, .dictionary: return try performEdits(operation)
        }
    }

    private func input(_ nested: Bool) -> WriteSession.Options {
        WriteSession.Options(writesNestedObjects: nested, ignoresUnknownMembers: context.options.preferences.isLenient)
    }

    /// The object of a target, whose conditions are compared.
    @discardableResult
    private func require(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace {
        let found = try find(target, place)
        guard let found else { throw Problem(.objectNotFound, "there is no object with this key") }
        try context.check(target.condition, found, at: place)
        return found
    }

    private func find(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace? {
        try Problem.writing(place) { () throws(WriteError) in try session.find(target.key, class: target.className) }
    }

    private func put(
        _ target: BatchOperation.ObjectTarget, _ body: ObjectBodies.Reading, _ nested: Bool, _ place: InputPlace
    ) throws(Problem) -> Outcome {
        try context.check(target.condition, try find(target, place), at: place)
        let inner = place.inside("body")
        let object = try body.value(at: inner)
        let written = try Problem.writing(inner) { () throws(WriteError) in
            try session.put(target.className, target.key, object, options: input(nested))
        }
        return .object(written.place, isCreated: written.isCreated, shows: true)
    }

    /// To be called before objects are deleted: afterwards nobody knows what their keys were.
    private func rememberKeys() throws(Problem) {
        guard knownCount < results.count else { return }
        let view = try context.view()
        for index in knownCount..<results.count {
            switch results[index] {
            case .object(let place, _, _), .value(let place, _), .count(let place, _):
                knownKeys[index] = try context.keyText(place, in: view)
            case .deleted, .matched: break
            }
        }
        knownCount = results.count
    }

    private func delete(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> Outcome {
        let found = try require(target, place)
        try rememberKeys()
        let key = try context.keyText(found, in: try context.view()) ?? KeyText.text(found.object)
        _ = try Problem.writing(place) { () throws(WriteError) in try session.delete(target.className, target.key) }
        return .deleted(key: key)
    }

    private func increment(
        _ target: BatchOperation.ObjectTarget, _ property: PropertyAddress,
        _ amount: Result<InputValue, InputReader.Mistake>, _ place: InputPlace
    ) throws(Problem) -> Outcome {
        let found = try require(target, place)
        let amount = try amount.value(at: place.inside("by"))
        let sum = try Problem.writing(place) { () throws(WriteError) in
            try session.increment(target.className, target.key, property, by: amount)
        }
        return .value(found, sum)
    }

    // MARK: - Queries

    private func performQuery(_ operation: BatchOperation) throws(Problem) -> Outcome {
        let place = operation.place
        switch operation.kind {
        case .patchWhere(let className, let matches, let body, let nested):
            let object = try body.value(at: place.inside("body"))
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place, inputIn: "body") { () throws(WriteError) in
                    try session.patchWhere(
                        className, matches.query, arguments: arguments, maximum: matches.maximum, object, options: input(nested))
                })
        case .deleteWhere(let className, let matches):
            try rememberKeys()
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.deleteWhere(className, matches.query, arguments: arguments, maximum: matches.maximum)
                })
        case .assertObject(let target, let matches):
            if let found = try find(target, place) { try context.check(target.condition, found, at: place) }
            let arguments = try arguments(matches, place)
            return .object(
                try querying(place) { () throws(WriteError) in
                    try session.assert(target.className, target.key, matches?.query, arguments: arguments)
                }, isCreated: nil, shows: false)
        case .assertCount(let className, let matches, let count):
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.assert(className, matches?.query ?? .all, arguments: arguments, count: count)
                })
        default: throw Problem(.internalError, "no query")
        }
    }

    private func arguments(_ matches: BatchOperation.Matches?, _ place: InputPlace) throws(Problem) -> [QueryArgument] {
        guard let matches, !matches.args.isEmpty else { return [] }
        do throws(Problem) {
            return try ArgumentDecoder(try context.view()).decode(matches.args)
        } catch {
            throw error.relocated(to: place)
        }
    }

    /// Mistakes of queries name the member they stand in.
    private func querying<Result>(
        _ place: InputPlace, inputIn name: String? = nil, _ body: () throws(WriteError) -> Result
    ) throws(Problem) -> Result {
        do throws(WriteError) {
            return try body()
        } catch {
            if error.code == .query { throw place.inside("where").describe(Problem(error)) }
            throw Problem(error, at: error.path.steps.isEmpty ? place : name.map(place.inside) ?? place)
        }
    }

    // MARK: - Collections

    private func performEdits(_ operation: BatchOperation) throws(Problem) -> Outcome {
        // Looked up before: a list may hold the object that it belongs to, and `deleteAll` deletes that too.
        let place: ObjectPlace
        let count: Int
        switch operation.kind {
        case .list(let object, let property, let steps):
            place = try require(object, operation.place)
            if steps.contains(where: \.deletesObjects) {
                try rememberKeys()
                knownKeys[results.count] = try context.keyText(place, in: try context.view())
            }
            count = try edit(steps, operation.place) { step throws(Problem) in
                let edits = [try step?.listEdit()].compactMap { $0 }
                return { () throws(WriteError) in
                    try self.session.editList(object.className, object.key, property, edits, options: self.input(false))
                }
            }
        case .set(let object, let property, let steps):
            place = try require(object, operation.place)
            count = try edit(steps, operation.place) { step throws(Problem) in
                let edits = [try step?.setEdit()].compactMap { $0 }
                return { () throws(WriteError) in
                    try self.session.editSet(object.className, object.key, property, edits, options: self.input(false))
                }
            }
        case .dictionary(let object, let property, let steps):
            place = try require(object, operation.place)
            count = try edit(steps, operation.place) { step throws(Problem) in
                let edits = [try step?.dictionaryEdit()].compactMap { $0 }
                return { () throws(WriteError) in
                    try self.session.editDictionary(object.className, object.key, property, edits, options: self.input(false))
                }
            }
        default: throw Problem(.internalError, "no collection")
        }
        return .count(place, count)
    }

    private typealias Edit = () throws(WriteError) -> Int

    /// Makes the changes one by one; returns the size in the end.
    private func edit(
        _ steps: [BatchOperation.CollectionStep], _ place: InputPlace,
        _ make: (BatchOperation.CollectionStep?) throws(Problem) -> Edit
    ) throws(Problem) -> Int {
        var count: Int?
        for step in steps {
            let edit = try make(step)
            do throws(WriteError) {
                count = try edit()
            } catch {
                guard !error.path.steps.isEmpty else { throw Problem(error, at: place.inside("property")) }
                var inner = error
                inner.path = InputPath(Array(error.path.steps.dropFirst()))
                throw Problem(inner, at: step.place(ofErrorAt: inner.path))
            }
        }
        if let count { return count }
        let none = try make(nil)
        return try Problem.writing(place.inside("property")) { () throws(WriteError) in try none() }
    }

    // MARK: - Answer

    private func draft() throws(Problem) -> WriteDraft {
        let view = try context.view()
        let showsObjects = context.options.showsObjects(byDefault: false)
        var draft = WriteDraft(status: 200, content: .none)
        if showsObjects { draft.type = context.options.representation.mediaType }
        var writer = JSONWriter(reservingCapacity: 32 + results.count * 32)
        writer.beginArray()
        for (index, result) in results.enumerated() {
            let known = knownKeys[index]
            writer.beginObject()
            switch result {
            case .object(let place, let isCreated, let shows):
                try writeKey(place, known, view, &writer)
                if let isCreated { writer.member("created", bool: isCreated) }
                if shows, showsObjects { try writeObject(place, view, &writer, &draft.notes) }
            case .deleted(let key): writer.member("key", text: key)
            case .matched(let count): writer.member("matched", int: count)
            case .value(let place, let value):
                try writeKey(place, known, view, &writer)
                writer.key("value")
                var values = ValueWriter(context.options.representation)
                values.write(value, to: &writer)
            case .count(let place, let count):
                try writeKey(place, known, view, &writer)
                writer.member("count", int: count)
            }
            writer.endObject()
        }
        writer.endArray()
        draft.content = .results(writer.buffer)
        return draft
    }

    private func writeKey(
        _ place: ObjectPlace, _ known: String?, _ view: Snapshot, _ writer: inout JSONWriter
    ) throws(Problem) {
        let key = if let known { known } else { try context.keyText(place, in: view) ?? KeyText.text(place.object) }
        writer.member("key", text: key)
    }

    private func writeObject(
        _ place: ObjectPlace, _ view: Snapshot, _ writer: inout JSONWriter, _ notes: inout RepresentationNotes
    ) throws(Problem) {
        writer.key("object")
        guard try context.keyText(place, in: view) != nil else { return writer.null() }
        let shown = try context.show(place, in: view, &writer)
        notes.hasLossyDates = notes.hasLossyDates || shown.notes.hasLossyDates
        notes.hasUnsafeIntegers = notes.hasUnsafeIntegers || shown.notes.hasUnsafeIntegers
    }
}

extension Problem {
    /// A problem with arguments, whose pointer begins at their operation.
    fileprivate func relocated(to place: InputPlace) -> Problem {
        var copy = self
        copy.extensions = extensions.map { member in
            guard member.name.description == "pointer", case .text(let text) = member.value else { return member }
            return Extension(name: "pointer", value: .text(place.pointer + text))
        }
        return copy
    }
}
