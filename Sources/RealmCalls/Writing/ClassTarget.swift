// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

/// The class that the path of a write names, in the newest committed version of its realm.
///
/// Endpoints make one for each request before they read its body. The checks are separate
/// functions, because each has its place in the order in which problems are reported.
package struct ClassTarget {
    /// The name of the class as the path has it, percent-decoded. The class may not exist.
    package let name: String
    /// The open realm that the write is for.
    package let database: Database
    /// Whether the newest version had the class when the request was read.
    private let exists: Bool
    /// The request whose path names the class.
    private let call: Call

    /// Looks the class of a request up.
    ///
    /// - Throws: `method_not_allowed`, with `Allow`, for an embedded class, whose objects are
    ///   written inside their owners only; `realm_unavailable` when the realm is not open.
    package init(_ call: Call) throws(Problem) {
        self.call = call
        database = try call.database()
        name = try call.match[.class]
        // A sender that may write in a class without seeing it gets the response from the write itself.
        let isKnown = call.writeRights?.mayKnow(name) ?? false
        let table =
            database.current.shown(by: call.scope).snapshot.classTable(named: name)
            ?? (isKnown ? database.current.snapshot.classTable(named: name) : nil)
        exists = table != nil
        guard table?.kind == .embedded else { return }
        throw Problem(WriteError.embeddedClass(name)).allowing(call)
    }

    /// The newest version as the sender of the request may see it.
    package var shown: Snapshot { database.current.shown(by: call.scope).snapshot }

    /// Throws `class_not_found` unless the class exists; the detail proposes a class with a similar name.
    ///
    /// It is called after everything that is wrong with the request itself was checked. Inside an interactive transaction it
    /// checks nothing, because the transaction may have created the class; there the session finds out.
    package func requireClass() throws(Problem) {
        guard !exists, call.request[.realmTransaction] == nil else { return }
        throw .noClass(name, in: shown)
    }

    /// Throws `precondition_required` where the configuration demands conditions for the class and the request has none.
    ///
    /// - Parameter condition: The conditions of the request. The version form, `If-Match: "v.…"`,
    ///   suffices.
    package func requireCondition(_ condition: WriteCondition) throws(Problem) {
        guard condition.isEmpty,
            database.conditionalClasses.contains(name)
                || call.services.conditionalClasses.contains("\(database.name.text).\(name)")
        else { return }
        throw Problem(.preconditionRequired, "writes to class '\(name)' need If-Match or If-None-Match")
    }
}

/// Completes problems that the engine found, which does not know HTTP methods.
extension Problem {
    /// Returns the problem with an `Allow` header field, if it is a `method_not_allowed` that has none.
    ///
    /// The engine refuses writes to objects of embedded classes without knowing any methods. At a path that names a class,
    /// `Allow` lists the methods that only read. At other paths the method itself is right, and `Allow` lists all methods of
    /// the path. Problems with other codes are returned unchanged.
    package func allowing(_ call: Call) -> Problem {
        guard code == .methodNotAllowed, !headers.contains(where: { $0.name.description == "Allow" }) else { return self }
        // Objects of an embedded class can be read at the paths of the class; at other paths the method is not the error.
        let isPathOfClass = call.match.pattern.position(of: .class) != nil
        let methods = isPathOfClass ? call.readMethods : call.methods
        return with(header: HeaderField("Allow", text: methods.union(.options).allow))
    }
}
