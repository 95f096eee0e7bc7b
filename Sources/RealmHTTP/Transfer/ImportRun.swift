// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// Writes what an import brings: first all objects without what has links in it, then the links, so that they may lead
/// to objects that come later.
///
/// Objects without primary key get new keys; links to them are led to the new ones.
package final class ImportRun {
    package enum Mode: String, Sendable { case create, upsert }

    private let session: WriteSession
    private let mode: Mode
    /// Objects by the class and key they had.
    private var places: [String: [String: ObjectPlace]] = [:]
    private var later: [(place: ObjectPlace, className: String, members: [(name: String, value: InputValue)], line: Int)] = []
    package private(set) var created = 0
    package private(set) var updated = 0

    package init(_ session: WriteSession, _ mode: Mode) {
        self.session = session
        self.mode = mode
    }

    package func run(_ contents: ImportContents) throws(Problem) {
        if let schema = contents.schema {
            try Problem.writing { () throws(WriteError) in
                if try session.schema().classes.isEmpty { try session.createSchema(schema) }
            }
        }
        for object in contents.objects { try write(object) }
        for object in later { try link(object.place, object.className, object.members, object.line) }
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
        if written.isCreated { created += 1 } else { updated += 1 }
        if let key = object.key { places[object.className, default: [:]][key] = written.place }
        if !linked.isEmpty { later.append((written.place, object.className, linked, object.line)) }
    }

    private func link(
        _ place: ObjectPlace, _ className: String, _ members: [(name: String, value: InputValue)], _ line: Int
    ) throws(Problem) {
        let body = InputObject(members.map { (name: $0.name, value: redirected($0.value)) })
        try Problem.writing(InputPlace(line: line)) { () throws(WriteError) in
            try session.checkDeadline()
            for member in body.members {
                let name = member.name.hasPrefix("$$") ? String(member.name.dropFirst()) : member.name
                do throws(WriteError) {
                    _ = try session.setProperty(className, .objectKey(place.object), name, member.value)
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
            guard let place = places[className]?[key] else { return value }
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
