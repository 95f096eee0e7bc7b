// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The class that the path of a write names.
struct ClassTarget {
    let name: String
    let database: Database
    private let exists: Bool
    private let call: Call

    /// Objects of embedded classes are written inside their owners only: `method_not_allowed`.
    init(_ call: Call) throws(Problem) {
        self.call = call
        database = try call.database()
        name = try call.match.required(4, "class")
        let table = database.current.snapshot.classTable(named: name)
        exists = table != nil
        guard table?.kind == .embedded else { return }
        throw Problem(.methodNotAllowed, "objects of the embedded class '\(name)' are written inside their owners")
            .with(header: HeaderField("Allow", text: call.match.template.readMethods.union(.options).allow))
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
            call.application.configuration.conditionalClasses.contains("\(database.name.text).\(name)")
        else { return }
        throw Problem(.preconditionRequired, "writes to class '\(name)' need If-Match or If-None-Match")
    }
}
