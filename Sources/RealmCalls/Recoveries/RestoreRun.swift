// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Restores the states of a plan in one transaction.
///
/// A run belongs to the writer's thread and is used once. All objects are created before links among them are written, so the
/// order of the ids does not matter. An error ends the run, and the engine undoes all of it.
package final class RestoreRun {
    /// The result for one state.
    private struct Outcome {
        /// The object; nil for a state that was left out.
        var place: ObjectPlace?
        var result = Result.skipped
        /// The links that were dropped, by property.
        var dropped: [RestoredLinks.Dropped] = []
        /// The properties that were not written.
        var omitted: [String] = []
        /// The properties whose links lead to objects that did not exist yet.
        var pending: [String] = []
        /// The properties of other objects that link to the object again.
        var incoming: [(className: String, key: String, property: String)] = []
    }

    /// The words for what happened with a state.
    private enum Result: String { case created, updated, skipped }

    private let context: WriteContext
    private let plan: RestorePlan
    private var outcomes: [Outcome]
    /// The items by class and key.
    private var itemIndices: [ByteText: Int] = [:]
    private var session: WriteSession { context.session }
    /// The state before the run, for the schema, which stays as it is. A newer view would be made for each change.
    private let before: Snapshot

    package init(_ context: WriteContext, _ plan: RestorePlan) throws(Problem) {
        self.context = context
        before = try context.view()
        self.plan = plan
        outcomes = plan.items.map { Outcome(omitted: $0.omitted) }
        for (index, item) in plan.items.enumerated() { itemIndices[RestoreRun.name(item.className, item.key)] = index }
    }

    private static func name(_ className: String, _ key: String) -> ByteText { ByteText(className + "/" + key) }

    /// Carries out the plan.
    ///
    /// - Throws: The problem of a state, with its `id`; `precondition_failed` for an object that was changed since,
    ///   `duplicate_key` for one that lives again.
    package func run() throws(Problem) -> WriteDraft {
        // Lines name properties as the file does.
        session.naming = .plain
        defer { session.naming = .documents }
        for index in plan.items.indices { try each(index) { () throws(Problem) in try find(index) } }
        for index in plan.items.indices where outcomes[index].result == .created {
            try each(index) { () throws(Problem) in try create(index) }
        }
        for index in plan.items.indices where outcomes[index].result == .updated {
            try each(index) { () throws(Problem) in try update(index) }
        }
        for index in plan.items.indices where !outcomes[index].pending.isEmpty {
            try each(index) { () throws(Problem) in try linkPending(index) }
        }
        if plan.request.restoresIncoming { try restoreIncoming() }
        return try draft()
    }

    /// Runs a step for a state, and adds its id to problems.
    private func each(_ index: Int, _ body: () throws(Problem) -> Void) throws(Problem) {
        try Problem.written(session.checkDeadline())
        do throws(Problem) { try body() } catch {
            let item = plan.items[index]
            throw item.place.describe(error.has("id") ? error : error.with("id", item.id))
        }
    }

    // MARK: - Objects

    /// Finds the object of a state, and decides what to do with it.
    private func find(_ index: Int) throws(Problem) {
        let item = plan.items[index]
        guard let table = before.classTable(named: item.className) else {
            guard plan.request.skipsUnknown else {
                throw Problem(.unknownProperty, "the realm has no class '\(item.className)' now")
            }
            return
        }
        guard table.kind != .embedded else {
            throw Problem(.notRestorable, "an embedded object is restored with the object that owns it")
        }
        for (name, _) in item.values where !plan.request.skipsUnknown && table.column(named: name) == nil {
            throw Problem(.unknownProperty, "class '\(item.className)' has no property '\(name)' now").with("property", name)
        }
        let isNamed = table.primaryKey != nil || !item.isDeleted
        let found = isNamed ? try Problem.written(session.find(.text(item.key), class: item.className)) : nil
        guard item.isDeleted else {
            try context.check(item.condition, found)
            outcomes[index].place = found
            outcomes[index].result = found == nil ? .skipped : .updated
            return
        }
        guard let found else { return outcomes[index].result = .created }
        outcomes[index].place = found
        switch plan.request.onConflict {
        case .fail:
            throw Problem(.duplicateKey, "an object of class '\(item.className)' has the primary key again").with(
                "key", item.key)
        case .skip: break
        case .update: outcomes[index].result = .updated
        }
    }

    /// Creates the object of a state.
    private func create(_ index: Int) throws(Problem) {
        let item = plan.items[index]
        var members: [(name: String, value: InputValue)] = []
        for (column, value) in columns(of: index) {
            members.append((column.name, try rewritten(value, column, index)))
        }
        let written = try Problem.written(session.create(item.className, InputObject(members)))
        outcomes[index].place = written.place
    }

    /// Writes the values of a state that differ from those of its object.
    private func update(_ index: Int) throws(Problem) {
        guard let place = outcomes[index].place else { return }
        let key = before.table(place.table)?.primaryKey?.key
        for (column, value) in columns(of: index) where column.key != key {
            try set(try rewritten(value, column, index), column, of: place)
        }
    }

    /// Writes the properties again whose links lead to objects that exist now.
    private func linkPending(_ index: Int) throws(Problem) {
        guard let place = outcomes[index].place else { return }
        let pending = outcomes[index].pending
        outcomes[index].dropped.removeAll { pending.contains($0.property) }
        for (column, value) in columns(of: index) where pending.contains(column.name) {
            try set(try rewritten(value, column, index), column, of: place)
        }
    }

    private func set(_ value: InputValue, _ column: Column, of place: ObjectPlace) throws(Problem) {
        guard try !Problem.written(session.holds(value, column, of: place)) else { return }
        try Problem.written(session.setProperty(column, of: place, to: value))
    }

    /// Returns the values of a state with the properties that the class has now.
    private func columns(of index: Int) -> [(Column, InputValue)] {
        let item = plan.items[index]
        guard let table = before.classTable(named: item.className) else { return [] }
        var columns: [(Column, InputValue)] = []
        for (name, value) in item.values {
            if let column = table.column(named: name) {
                columns.append((column, value))
            } else if !outcomes[index].omitted.contains(name) {
                outcomes[index].omitted.append(name)
            }
        }
        return columns
    }

    // MARK: - Links

    /// Returns the value of a property as it can be written now, and notes the links that were dropped.
    private func rewritten(_ value: InputValue, _ column: Column, _ index: Int) throws(Problem) -> InputValue {
        var links = links()
        let value = try links.rewritten(value, of: column)
        outcomes[index].dropped += links.dropped
        outcomes[index].pending.removeAll { $0 == column.name }
        if links.hasPending { outcomes[index].pending.append(column.name) }
        return value
    }

    private func links() -> RestoredLinks {
        RestoredLinks(
            find: { className, key throws(Problem) in try self.target(className, key) },
            columns: { [before] in before.table($0)?.columns }, skipsUnknown: plan.request.skipsUnknown)
    }

    /// Finds the target of a link as of the past.
    private func target(_ className: String, _ key: String) throws(Problem) -> RestoredLinks.Target {
        if let index = itemIndices[RestoreRun.name(className, key)], plan.items[index].isDeleted {
            if let place = outcomes[index].place { return .found(.stub(className: className, key: .objectKey(place.object))) }
            return outcomes[index].result == .created ? .pending : .gone
        }
        let isObjectKey = key.hasPrefix("@k")
        if isObjectKey, plan.ambiguousClasses.contains(className) { return .gone }
        let found: ObjectPlace?
        do throws(WriteError) { found = try session.find(.text(key), class: className) } catch {
            guard error.code == .classNotFound else { throw Problem(error) }
            return .gone
        }
        return found.map { .found(.stub(className: className, key: .objectKey($0.object))) } ?? .gone
    }

    // MARK: - Incoming links

    /// Writes links of other objects to created ones again, where nothing else was changed in their property since.
    private func restoreIncoming() throws(Problem) {
        var versions: [ByteText: (index: Int, version: UInt64)] = [:]
        for (index, item) in plan.items.enumerated() where outcomes[index].result == .created {
            guard let version = item.lastVersion else { continue }
            versions[RestoreRun.name(item.className, item.key)] = (index, version)
        }
        guard !versions.isEmpty else { return }
        for origin in plan.origins where itemIndices[RestoreRun.name(origin.className, origin.key)] == nil {
            try Problem.written(session.checkDeadline())
            for (name, value) in origin.values {
                let targets = RestoreRun.targets(of: value).compactMap { versions[$0] }
                guard !targets.isEmpty, targets.allSatisfy({ origin.versions.contains($0.version) }) else { continue }
                try relink(origin, name, to: value, for: Set(targets.map(\.index)).sorted())
            }
        }
    }

    /// Writes the former value of a property with links to created objects, if it lacks nothing else than them.
    private func relink(
        _ origin: RestorePlan.Origin, _ name: String, to value: InputValue, for indices: [Int]
    ) throws(Problem) {
        guard let column = before.classTable(named: origin.className)?.column(named: name),
            let place = try Problem.written(session.find(.text(origin.key), class: origin.className))
        else { return }
        let created = Set(indices.map { RestoreRun.name(plan.items[$0].className, plan.items[$0].key) })
        var without = RestoredLinks(
            find: { className, key throws(Problem) in
                created.contains(RestoreRun.name(className, key)) ? .gone : try self.target(className, key)
            }, columns: { _ in nil }, skipsUnknown: false)
        var with = links()
        let (former, after) = (try without.rewritten(value, of: column), try with.rewritten(value, of: column))
        // A property of another type by now has another value too.
        guard (try? session.holds(former, column, of: place)) == true else { return }
        try Problem.written(session.setProperty(column, of: place, to: after))
        for index in indices { outcomes[index].incoming.append((origin.className, origin.key, name)) }
    }

    /// Returns the names of the objects that a value links to.
    private static func targets(of value: InputValue) -> [ByteText] {
        switch value {
        case .link(.stub(let className, .text(let key))): return [name(className, key)]
        case .list(let elements): return elements.flatMap { targets(of: $0) }
        case .object(let object): return object.members.flatMap { targets(of: $0.value) }
        default: return []
        }
    }

    // MARK: - Answer

    /// Writes the results of all states as a JSON array.
    private func draft() throws(Problem) -> WriteDraft {
        var draft = WriteDraft(status: 200, content: .none)
        var writer = JSONWriter(reservingCapacity: 32 + outcomes.count * 96)
        writer.beginArray()
        for (item, outcome) in zip(plan.items, outcomes) {
            let key = try outcome.place.map { place throws(Problem) in
                try Problem.written(session.keyText(of: place)) ?? KeyText.text(place.object)
            }
            if outcome.result != .skipped { context.audit?.add(key: key ?? item.key, of: item.className) }
            write(item, outcome, key: key, to: &writer)
            try context.requireRoom(for: writer.count)
        }
        writer.endArray()
        draft.content = .results(writer.buffer)
        return draft
    }

    private func write(_ item: RestorePlan.Item, _ outcome: Outcome, key: String?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("id", text: item.id)
        writer.member("class", text: item.className)
        if let key { writer.member("key", text: key) } else { writer.nullMember("key") }
        writer.member("result", text: outcome.result.rawValue)
        if !outcome.dropped.isEmpty {
            writer.key("droppedLinks")
            writer.beginArray()
            for link in outcome.dropped {
                writer.beginObject()
                writer.member("property", text: link.property)
                writer.member("class", text: link.className)
                writer.member("key", text: link.key)
                writer.endObject()
            }
            writer.endArray()
        }
        if !outcome.omitted.isEmpty {
            writer.key("omitted")
            writer.beginArray()
            for name in outcome.omitted { writer.string(name) }
            writer.endArray()
        }
        if !outcome.incoming.isEmpty {
            writer.key("incoming")
            writer.beginArray()
            for origin in outcome.incoming {
                writer.beginObject()
                writer.member("class", text: origin.className)
                writer.member("key", text: origin.key)
                writer.member("property", text: origin.property)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
    }
}
