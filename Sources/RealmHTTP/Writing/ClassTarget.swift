// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The class that the path of a write names.
struct ClassTarget {
    let name: String
    let database: Database
    private let exists: Bool
    private let call: WriteCall

    /// Objects of embedded classes are written inside their owners only: `method_not_allowed`.
    init(_ call: WriteCall) throws(Problem) {
        self.call = call
        database = try call.database()
        name = try call.match[.class]
        let table = database.current.snapshot.classTable(named: name)
        exists = table != nil
        guard table?.kind == .embedded else { return }
        throw Problem(WriteError.embeddedClass(name)).allowing(call)
    }

    /// Throws `class_not_found`. Told after everything that is wrong with the request itself.
    func requireClass() throws(Problem) {
        guard !exists, call.request.headers[.realmTransaction] == nil else { return }
        let names = database.current.snapshot.classes.compactMap(\.className)
        let hint = Spelling.nearest(to: name, in: names).map { "; did you mean '\($0)'?" } ?? ""
        throw Problem(.classNotFound, "there is no class of this name\(hint)")
    }

    /// Throws `precondition_required` where the configuration demands conditions and the request has none.
    func requireCondition(_ condition: WriteCondition) throws(Problem) {
        guard condition.isEmpty,
            call.services.conditionalClasses.contains("\(database.name.text).\(name)")
        else { return }
        throw Problem(.preconditionRequired, "writes to class '\(name)' need If-Match or If-None-Match")
    }
}

extension Problem {
    /// A `method_not_allowed` with what the path of a call does allow when its class is embedded: what changes no object of
    /// that class. Other problems stay as they are.
    func allowing(_ call: WriteCall) -> Problem {
        guard code == .methodNotAllowed, !headers.contains(where: { $0.name.description == "Allow" }) else { return self }
        // Objects of such a class can be read at the paths of a class; elsewhere it is not the method that is wrong.
        let isPathOfClass = call.match.pattern.position(of: .class) != nil
        let methods = isPathOfClass ? call.call.readMethods : call.call.methods
        return with(header: HeaderField("Allow", text: methods.union(.options).allow))
    }
}
