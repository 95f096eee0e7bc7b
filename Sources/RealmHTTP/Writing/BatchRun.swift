// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

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
            let object = try require(target, place)
            let written = try patch.apply(to: object, session, input(nested), at: place.inside("body"))
            return .object(written.place, isCreated: nil, shows: true)
        case .delete(let target): return try delete(target, place)
        case .increment(let target, let property, let amount): return try increment(target, property, amount, place)
        case .query(let kind): return try perform(kind, place)
        case .collection(let kind, let target, let property, let steps):
            return try edit(kind, target, property, steps, at: place)
        }
    }

    private func input(_ nested: Bool) -> WriteSession.Options {
        WriteSession.Options(writesNestedObjects: nested, ignoresUnknownMembers: context.options.preferences.isLenient)
    }

    /// The object of a target, whose conditions are compared.
    private func require(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace {
        guard let found = try find(target, place) else {
            throw Problem(.objectNotFound, "there is no object with this key")
        }
        try context.check(target.condition, found, at: place)
        return found
    }

    private func find(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> ObjectPlace? {
        try Problem.writing(place) { () throws(WriteError) in try session.find(target.key, class: target.className) }
    }

    private func put(
        _ target: BatchOperation.ObjectTarget, _ body: ObjectBodies.Reading, _ nested: Bool, _ place: InputPlace
    ) throws(Problem) -> Outcome {
        let key = try Problem.writing(place) { () throws(WriteError) in
            try session.resolve(target.key, class: target.className)
        }
        try context.check(target.condition, key.place, at: place)
        let inner = place.inside("body")
        let object = try body.value(at: inner)
        let written = try Problem.writing(inner) { () throws(WriteError) in
            try session.put(key, object, options: input(nested))
        }
        return .object(written.place, isCreated: written.isCreated, shows: true)
    }

    /// To be called before objects are deleted: afterwards nobody knows what their keys were.
    private func rememberKeys() throws(Problem) {
        for index in knownCount..<results.count {
            switch results[index] {
            case .object(let place, _, _), .value(let place, _), .count(let place, _):
                knownKeys[index] = try keyText(of: place)
            case .deleted, .matched: break
            }
        }
        knownCount = results.count
    }

    /// The key of an object as it is now; nil when the object is not there.
    private func keyText(of place: ObjectPlace) throws(Problem) -> String? {
        try Problem.writing { () throws(WriteError) in try session.keyText(of: place) }
    }

    private func delete(_ target: BatchOperation.ObjectTarget, _ place: InputPlace) throws(Problem) -> Outcome {
        let found = try require(target, place)
        try rememberKeys()
        let key = try keyText(of: found) ?? KeyText.text(found.object)
        try Problem.writing(place) { () throws(WriteError) in try session.delete(found) }
        return .deleted(key: key)
    }

    private func increment(
        _ target: BatchOperation.ObjectTarget, _ property: PropertyAddress,
        _ amount: Result<InputValue, InputReader.Mistake>, _ place: InputPlace
    ) throws(Problem) -> Outcome {
        let found = try require(target, place)
        let amount = try amount.value(at: place.inside("by"))
        let sum = try Problem.writing(place) { () throws(WriteError) in
            try session.increment(property, of: found, by: amount)
        }
        return .value(found, sum)
    }

    // MARK: - Queries

    private func perform(_ kind: BatchOperation.QueryKind, _ place: InputPlace) throws(Problem) -> Outcome {
        switch kind {
        case .patch(let className, let matches, let body, let nested):
            let object = try body.value(at: place.inside("body"))
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place, inputIn: "body") { () throws(WriteError) in
                    try session.patchWhere(
                        className, matches.query, arguments: arguments, maximum: matches.maximum, object, options: input(nested))
                })
        case .delete(let className, let matches):
            try rememberKeys()
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.deleteWhere(className, matches.query, arguments: arguments, maximum: matches.maximum)
                })
        case .assertObject(let target, let matches):
            let found = try find(target, place)
            if let found { try context.check(target.condition, found, at: place) }
            let arguments = try arguments(matches, place)
            return .object(
                try querying(place) { () throws(WriteError) in
                    try session.assert(found, matches?.query, arguments: arguments)
                }, isCreated: nil, shows: false)
        case .assertCount(let className, let matches, let count):
            let arguments = try arguments(matches, place)
            return .matched(
                try querying(place) { () throws(WriteError) in
                    try session.assert(className, matches?.query ?? .all, arguments: arguments, count: count)
                })
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

    /// Changes a collection step by step; the object is looked up once.
    private func edit(
        _ kind: CollectionKind, _ target: BatchOperation.ObjectTarget, _ property: PropertyAddress,
        _ steps: [BatchOperation.CollectionStep], at place: InputPlace
    ) throws(Problem) -> Outcome {
        let object = try require(target, place)
        // A list may hold the object that it belongs to, and `deleteAll` deletes that too.
        if steps.contains(where: \.deletesObjects) {
            try rememberKeys()
            knownKeys[results.count] = try keyText(of: object)
        }
        let edit = CollectionEdit(session: session, object: object, property: property, options: input(false))
        return .count(object, try edit.apply(steps, to: kind, at: place))
    }

    // MARK: - Answer

    private func draft() throws(Problem) -> WriteDraft {
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
                try writeKey(place, known, &writer)
                if let isCreated { writer.member("created", bool: isCreated) }
                if shows, showsObjects { try writeObject(place, &writer, &draft.notes) }
            case .deleted(let key): writer.member("key", text: key)
            case .matched(let count): writer.member("matched", int: count)
            case .value(let place, let value):
                try writeKey(place, known, &writer)
                writer.key("value")
                var values = ValueWriter(context.options.representation)
                values.write(value, to: &writer)
            case .count(let place, let count):
                try writeKey(place, known, &writer)
                writer.member("count", int: count)
            }
            writer.endObject()
        }
        writer.endArray()
        draft.content = .results(writer.buffer)
        return draft
    }

    private func writeKey(_ place: ObjectPlace, _ known: String?, _ writer: inout JSONWriter) throws(Problem) {
        let key = if let known { known } else { try keyText(of: place) ?? KeyText.text(place.object) }
        writer.member("key", text: key)
    }

    private func writeObject(
        _ place: ObjectPlace, _ writer: inout JSONWriter, _ notes: inout RepresentationNotes
    ) throws(Problem) {
        writer.key("object")
        let view = try context.view()
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
