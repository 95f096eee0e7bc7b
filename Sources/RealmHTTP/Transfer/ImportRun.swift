// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// Writes what an import brings: first all objects without what has links in it, then the links, so that they may lead
/// to objects that come later.
///
/// Objects without primary key get new keys; links to them are led to the new ones.
package final class ImportRun {
    package enum Mode: String, Sendable { case create, upsert }

    /// What has to be known from one commit to the next.
    struct Memory: Sendable {
        /// Objects by the class and key they had.
        var places: [String: [String: ObjectPlace]] = [:]
        /// Members with links that wait for the objects they lead to.
        var later: [Linked] = []
        var created = 0
        var updated = 0
    }

    struct Linked: Sendable {
        let place: ObjectPlace
        let className: String
        let members: [(name: String, value: InputValue)]
        let line: Int
    }

    private let session: WriteSession
    private let mode: Mode
    private(set) var memory: Memory

    package var created: Int { memory.created }
    package var updated: Int { memory.updated }

    package convenience init(_ session: WriteSession, _ mode: Mode) { self.init(session, mode, Memory()) }

    init(_ session: WriteSession, _ mode: Mode, _ memory: Memory) {
        self.session = session
        self.mode = mode
        self.memory = memory
    }

    /// Everything at once.
    package func run(_ contents: ImportContents) throws(Problem) { try run(contents, isLast: true) }

    /// A part; links to objects that are not there yet wait for the last one.
    func run(_ contents: ImportContents, isLast: Bool) throws(Problem) {
        if let schema = contents.schema {
            try Problem.writing { () throws(WriteError) in
                if try session.schema().classes.isEmpty { try session.createSchema(schema) }
            }
        }
        for object in contents.objects { try write(object) }
        let waiting = memory.later
        memory.later = []
        for linked in waiting {
            let canWait = isLast ? false : try !canLink(linked)
            if canWait { memory.later.append(linked) } else { try link(linked) }
        }
    }

    private func write(_ object: ImportedObject) throws(Problem) {
        let place = InputPlace(line: object.line)
        let body = try object.body.value(at: place)
        var plain: [(name: String, value: InputValue)] = []
        var linked: [(name: String, value: InputValue)] = []
        for member in body.members {
            if member.value.hasLink { linked.append(member) } else { plain.append(member) }
        }
        let written = try Problem.writing(place) { () throws(WriteError) in
            try session.checkDeadline()
            if mode == .upsert { return try session.upsert(object.className, InputObject(plain), .all) }
            return try session.create(object.className, InputObject(plain))
        }
        if written.isCreated { memory.created += 1 } else { memory.updated += 1 }
        if let key = object.key { memory.places[object.className, default: [:]][key] = written.place }
        guard !linked.isEmpty else { return }
        memory.later.append(Linked(place: written.place, className: object.className, members: linked, line: object.line))
    }

    // MARK: - Links

    private func canLink(_ linked: Linked) throws(Problem) -> Bool {
        for member in linked.members { if try !isReachable(redirected(member.value)) { return false } }
        return true
    }

    private func isReachable(_ value: InputValue) throws(Problem) -> Bool {
        switch value {
        case .link(.stub(let className, let key)):
            return try Problem.writing { () throws(WriteError) in try session.find(key, class: className) } != nil
        case .list(let elements):
            for element in elements { if try !isReachable(element) { return false } }
            return true
        case .object(let object):
            for member in object.members { if try !isReachable(member.value) { return false } }
            return true
        default: return true
        }
    }

    private func link(_ linked: Linked) throws(Problem) {
        try Problem.writing(InputPlace(line: linked.line)) { () throws(WriteError) in
            try session.checkDeadline()
            for member in linked.members {
                let name = member.name.hasPrefix("$$") ? String(member.name.dropFirst()) : member.name
                do throws(WriteError) {
                    _ = try session.setProperty(
                        linked.className, .objectKey(linked.place.object), name, redirected(member.value))
                } catch {
                    // An unknown member is one of the object here, not of a path.
                    var inner = error
                    inner.path = error.path.inside(.name(member.name))
                    if error.code == .notFound { inner = WriteError(.unknownProperty, error.detail, path: inner.path) }
                    throw inner
                }
            }
        }
    }

    /// The same value with links to the objects that were made here.
    private func redirected(_ value: InputValue) -> InputValue {
        switch value {
        case .link(.stub(let className, .text(let key))):
            guard let place = memory.places[className]?[key] else { return value }
            return .link(.stub(className: className, key: .objectKey(place.object)))
        case .list(let elements): return .list(elements.map(redirected))
        case .object(let object):
            return .object(InputObject(object.members.map { (name: $0.name, value: redirected($0.value)) }))
        default: return value
        }
    }
}

extension InputValue {
    /// Whether there is a link somewhere in it.
    fileprivate var hasLink: Bool {
        switch self {
        case .link: return true
        case .list(let elements): return elements.contains { $0.hasLink }
        case .object(let object): return object.members.contains { $0.value.hasLink }
        default: return false
        }
    }
}
