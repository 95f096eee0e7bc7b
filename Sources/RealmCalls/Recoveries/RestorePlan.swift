// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmRecovery
internal import RealmStorage

/// The states that a request restores, read and checked as far as possible without the transaction.
package struct RestorePlan: Sendable {
    /// A state that is restored.
    struct Item: Sendable {
        /// The id of its line.
        let id: String
        /// Its place in the request.
        let place: InputPlace
        let className: String
        /// The key as in URLs.
        let key: String
        /// Whether the object was deleted, and not changed.
        let isDeleted: Bool
        /// The condition that a changed object is as it was.
        let condition: WriteCondition
        /// The values that are written, by property.
        let values: [(name: String, value: InputValue)]
        /// The properties that are not written, because their values are lost.
        let omitted: [String]
        /// The last version that is proved to have had the state; nil for none.
        let lastVersion: UInt64?
    }

    /// A former state of an object, some of whose links may lead to restored objects.
    struct Origin: Sendable {
        let className: String
        let key: String
        /// The versions that are proved to have had the state.
        let versions: [UInt64]
        /// The proved values, by property.
        let values: [(name: String, value: InputValue)]
    }

    let request: RestoreRequest
    let items: [Item]
    /// The former states with links that may be restored; none unless the request asks for them.
    let origins: [Origin]
    /// The classes whose object keys do not name one object of all time.
    let ambiguousClasses: [String]

    private static let depthLimit = 256

    /// Makes a plan.
    ///
    /// - Throws: `not_found` for an unknown id, `not_restorable`, `value_lost`, `value_unproven`.
    package init(_ request: RestoreRequest, of recovery: KeptRecovery) throws(Problem) {
        self.request = request
        ambiguousClasses = recovery.ambiguousClasses
        var items: [Item] = []
        var objects: Set<ByteText> = []
        for (index, id) in request.ids.enumerated() {
            let place = InputPlace().inside("ids").inside(index)
            guard let line = recovery.line(withID: id) else {
                throw place.describe(Problem(.notFound, "the recovery has no state '\(id.truncated)'"))
            }
            let item = try RestorePlan.item(
                id, of: recovery.lines[line], if: recovery.condition(ofLine: line), request, at: place)
            guard objects.insert(ByteText(item.className + "/" + item.key)).inserted else {
                throw place.describe(Problem(.notRestorable, "two states of one object cannot be restored together"))
            }
            items.append(item)
        }
        for id in request.values.keys where !request.ids.contains(where: { ByteText($0) == id }) {
            throw InputPlace().inside("values").describe(
                Problem(.invalidBody, "'values' has the id '\(id.text.truncated)', which is not among 'ids'"))
        }
        self.items = items
        origins = request.restoresIncoming ? try RestorePlan.origins(in: recovery) : []
    }

    /// Checks a line, and reads its values.
    private static func item(
        _ id: String, of line: RecoveredLine, if condition: WriteCondition, _ request: RestoreRequest, at place: InputPlace
    ) throws(Problem) -> Item {
        guard let key = line.key, line.kind == .deleted || line.kind == .changed, !line.isInferred else {
            let reason =
                line.isInferred ? "the names of its properties are gone" : "a state of the kind '\(line.kind.rawValue)' is not"
            throw place.describe(Problem(.notRestorable, "the state '\(id)' cannot be restored: \(reason)")).with("id", id)
        }
        let given = request.values[ByteText(id)]?.members ?? []
        let unknown = line.unknown.filter { name in !given.contains { $0.name == name } }
        guard unknown.isEmpty || request.takesDefaults else {
            throw place.describe(
                Problem(.valueLost, "values of the state '\(id)' are lost: \(unknown.joined(separator: ", "))")
            ).with("id", id).with("properties", .texts(unknown))
        }
        let unproven = line.unproven.filter { name in !given.contains { $0.name == name } }
        guard unproven.isEmpty || request.takesUnproven else {
            throw place.describe(
                Problem(.valueUnproven, "values of the state '\(id)' are not proved: \(unproven.joined(separator: ", "))")
            ).with("id", id).with("properties", .texts(unproven))
        }
        var values: [(name: String, value: InputValue)] = []
        for (name, json) in line.values where !given.contains(where: { $0.name == name }) {
            values.append((name, try read(json, of: name, in: id, at: place)))
        }
        return Item(
            id: id, place: place, className: line.className, key: key, isDeleted: line.kind == .deleted, condition: condition,
            values: values + given, omitted: unknown, lastVersion: line.versions.max())
    }

    /// Returns the proved values of former states of objects that live, as far as links occur in them.
    private static func origins(in recovery: KeptRecovery) throws(Problem) -> [Origin] {
        let mark = Array("\"$link\"".utf8)
        var origins: [Origin] = []
        for (index, line) in recovery.lines.enumerated() where line.kind == .changed && !line.versions.isEmpty {
            guard let key = line.key, !line.isInferred else { continue }
            var values: [(name: String, value: InputValue)] = []
            for (name, json) in line.values where !line.unproven.contains(name) && json.containsBytes(mark) {
                values.append((name, try read(json, of: name, in: recovery.id(ofLine: index), at: InputPlace())))
            }
            guard !values.isEmpty else { continue }
            origins.append(Origin(className: line.className, key: key, versions: line.versions, values: values))
        }
        return origins
    }

    /// Reads a value that was recovered.
    ///
    /// - Throws: `not_restorable` for text that is no UTF-8 and for values that JSON cannot state.
    private static func read(
        _ json: ArraySlice<UInt8>, of name: String, in id: String, at place: InputPlace
    ) throws(Problem) -> InputValue {
        if let parsed = try? JSONParser.parse(Array(json), depthLimit: depthLimit),
            let value = try? InputReader().value(parsed)
        {
            return value
        }
        throw place.describe(Problem(.notRestorable, "the value of '\(name)' of the state '\(id)' cannot be written"))
            .with("id", id)
    }
}

extension ArraySlice<UInt8> {
    /// Returns whether the bytes occur in these.
    fileprivate func containsBytes(_ wanted: [UInt8]) -> Bool {
        guard count >= wanted.count, let first = wanted.first else { return false }
        var start = startIndex
        while let found = self[start...].firstIndex(of: first), found + wanted.count <= endIndex {
            if self[found..<found + wanted.count].elementsEqual(wanted) { return true }
            start = found + 1
        }
        return false
    }
}
