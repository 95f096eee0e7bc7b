// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// A read of one version of one realm: what the endpoints below a realm begin with.
final class ReadContext: Sendable {
    /// The call that reads.
    let call: Call
    /// The open realm.
    let database: Database
    /// The version that is read, which stays as it is while this is held.
    let version: Version

    /// The request of the call.
    var request: Request { call.request }
    /// The tables of the version.
    var snapshot: Snapshot { version.snapshot }
    /// The limits of the server.
    var limits: Limits { call.limits }

    /// The lease under which the version is held; nil for the newest version.
    let lease: PinnedVersions.Lease?

    /// Reads the newest version, or the one of a snapshot.
    init(_ call: Call, snapshot: String? = nil) throws(Problem) {
        self.call = call
        let database = try call.database()
        self.database = database
        lease = try snapshot.map { id throws(Problem) in try ReadContext.lease(id, call, database) }
        version = lease?.version ?? call.version ?? database.current
        call.request.version = version.tokenText
        call.request.readsSnapshot = lease != nil
        try requireMinimumVersion()
    }

    private static func lease(_ id: String, _ call: Call, _ database: Database) throws(Problem) -> PinnedVersions.Lease {
        guard call.request.headers[.realmTransaction] == nil else {
            throw .conflict("a snapshot is not read inside a transaction", parameter: "snapshot")
        }
        return try call.services.pinned.find(id, in: database, isUse: true)
    }

    /// `Realm-Min-Version`: a version of another epoch never comes, and one that has not come by now was waited for.
    private func requireMinimumVersion() throws(Problem) {
        guard let text = request.headers[.realmMinVersion] else { return }
        guard let wanted = VersionToken(text) else {
            throw .invalidHeader("Realm-Min-Version", "the header field is no version token")
        }
        guard wanted.epoch == version.token.epoch, wanted.version <= version.token.version else {
            throw Problem(.preconditionFailed, "this realm has not reached the version asked for").with(
                "header", "Realm-Min-Version")
        }
    }

    /// The class that the path names.
    func table() throws(Problem) -> Table {
        let name = try call.match[.class]
        guard let table = snapshot.classTable(named: name) else {
            let names = snapshot.classes.lazy.compactMap(\.className)
            let hint = Spelling.nearest(to: name, in: names).map { "; did you mean '\($0)'?" } ?? ""
            throw Problem(.classNotFound, "there is no class of this name\(hint)")
        }
        return table
    }

    /// The object that the path names.
    func row(in table: Table) throws(Problem) -> Row {
        let text = try call.match[.key]
        guard let row = try Problem.mapping({ () throws(StorageError) in try KeyText.find(text, in: table) }) else {
            throw Problem(.objectNotFound, "there is no object with this key")
        }
        return row
    }

    /// Compiles plans, with the names that linking objects have in this realm.
    var planner: ObjectPlanner { ObjectPlanner(snapshot, backlinkNames: database.backlinkNames.byClass) }

    /// The members of an envelope that tell what was read.
    func writeVersion(to writer: inout JSONWriter) {
        writer.member("version", text: version.tokenText)
        if let lease { writer.member("snapshot", text: lease.id) }
    }

    /// The tag of everything that changes with any commit.
    func versionTag(_ code: String) -> String { "\"v.\(version.tokenText)~\(code)\"" }

    /// Plans, and objects, of classes with more properties take long.
    private static let wideTable = 1000

    /// The plan for objects of `table`; that of whole objects is made once per version.
    func plan(_ table: Table, _ parameters: ReadParameters) throws(Problem) -> ObjectPlan {
        if table.columns.count > ReadContext.wideTable {
            try Problem.mapping { () throws(StorageError) in try request.budget.beginLongStep() }
        }
        if parameters.fields == nil, parameters.expand.isEmpty {
            return try PlanCache.of(version).wholeObjects(of: table, in: snapshot)
        }
        do throws(ObjectPlanner.UnknownPath) {
            return try planner.plan(
                table, fields: parameters.fields.map { PathTree($0) }, expand: PathTree(parameters.expand))
        } catch {
            throw Problem(error)
        }
    }
}

extension Problem {
    /// A path of `fields` or `expand` that leads nowhere, or is too long.
    init(_ unknown: ObjectPlanner.UnknownPath) {
        // A path that is only too long names something that exists.
        if unknown.path.isEmpty {
            self = .invalidParameter(unknown.parameter, unknown.detail)
        } else {
            self = Problem(.unknownKeyPath, unknown.detail).with("parameter", unknown.parameter)
        }
    }
}

extension ReadParameters {
    /// Whether the answer shows other objects than the one it is about, so that their changes matter too.
    var showsOthers: Bool { !expand.isEmpty || (fields ?? []).contains { $0.contains(".") } }
}
