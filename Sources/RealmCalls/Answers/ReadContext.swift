// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmAccess
package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// A read of one version of one realm. Endpoints for the data of a realm begin with it.
///
/// It holds the version, so that its pages are not reused while the response is made. It is
/// immutable, and may pass from the daemon's thread to a worker.
package final class ReadContext: Sendable {
    /// The request on its way to the endpoint.
    package let call: Call
    /// The open realm that is read.
    package let database: Database
    /// The version that is read. It never changes.
    package let version: Version
    /// The identity of the rights that hide a part of the version from the sender; empty if they hide nothing.
    let rightsIdentity: String

    /// The request as it was received, with its budget and its header fields.
    /// The tables and objects of the version that is read.
    package var snapshot: Snapshot { version.snapshot }
    /// The limits of the server, such as the largest page.
    package var limits: Limits { call.limits }

    /// The lease under which a client holds the version; nil for the newest version, and inside an interactive transaction.
    let lease: PinnedVersions.Lease?

    /// Chooses the version to read, and notes it in the request for the log and the cache of answers.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - snapshot: The id of a snapshot. Nil reads the newest version, or the uncommitted state
    ///     inside an interactive transaction.
    ///   - named: The name of a version that the file has; see `VersionName`.
    /// - Throws: `realm_not_found`, `realm_unavailable`, `snapshot_expired`, `not_found` for an
    ///   unknown snapshot, `version_not_found`, `conflicting_parameters` for a snapshot inside a transaction, or
    ///   `precondition_failed`.
    package init(_ call: Call, snapshot: String? = nil, version named: String? = nil) throws(Problem) {
        self.call = call
        let database = try call.database()
        self.database = database
        lease = try snapshot.map { id throws(Problem) in try ReadContext.lease(id, call, database) }
        let former = try named.map { name throws(Problem) in try ReadContext.version(name, call, database, snapshot: snapshot) }
        version = (former ?? lease?.version ?? call.version ?? database.current).shown(by: call.scope)
        let whole = version.snapshot.scope?.base ?? version.snapshot
        // A scope of another kind may hide something.
        rightsIdentity =
            if let scope = call.scope {
                (scope as? RightsScope)?.isPart(of: whole) == false ? "" : scope.identity
            } else {
                ""
            }
        call.versionToken = version.tokenText
        call.readsSnapshot = lease != nil || former != nil
        // Since a former version, something may have been hidden from the sender.
        guard rightsIdentity.isEmpty || former == nil || former?.token == database.current.token else {
            throw AccessPolicy.forbiddenByRoles
        }
        try requireMinimumVersion()
    }

    /// Returns the version that a request names, which it does not have under a lease.
    private static func version(
        _ name: String, _ call: Call, _ database: Database, snapshot: String?
    ) throws(Problem) -> Version {
        guard snapshot == nil else { throw .conflict("'snapshot' and 'version' cannot be combined", parameter: "version") }
        guard call.request[.realmTransaction] == nil else {
            throw .conflict("a former version cannot be read inside a transaction", parameter: "version")
        }
        guard let name = VersionName(name) else {
            throw .invalidParameter(
                "version", "'version' must be a number, 'previous', a count such as -1, a time or a version token")
        }
        return try name.version(of: database)
    }

    /// Returns the lease of a snapshot, and extends it because it is used.
    private static func lease(_ id: String, _ call: Call, _ database: Database) throws(Problem) -> PinnedVersions.Lease {
        guard call.request[.realmTransaction] == nil else {
            throw .conflict("a snapshot cannot be read inside a transaction", parameter: "snapshot")
        }
        return try call.services.pinned.find(id, in: database, isUse: true, owner: call.ownerScope)
    }

    /// Throws `precondition_failed` unless the version that is read is at least that of `Realm-Min-Version`.
    ///
    /// The request was kept waiting for that version before, if it has the same epoch. A version of another epoch never comes.
    private func requireMinimumVersion() throws(Problem) {
        guard let text = call.request[.realmMinVersion] else { return }
        guard let wanted = VersionToken(text) else {
            throw .invalidHeader("Realm-Min-Version", "the header field is not a version token")
        }
        guard wanted.epoch == version.token.epoch, wanted.version <= version.token.version else {
            throw Problem(.preconditionFailed, "this realm has not reached the requested version").with(
                "header", "Realm-Min-Version")
        }
    }

    /// Whether no rights hide any part of the version from the sender.
    package var showsEverything: Bool { rightsIdentity.isEmpty }

    /// The reasons why the response may cover a part of the file only, in the words of `Realm-Partial`.
    ///
    /// `rights` where the sender may not see everything, `classes` where the realm shows some classes of its file. Empty for the
    /// whole file.
    package var missingParts: [String] {
        let whole = snapshot.scope?.base ?? snapshot
        var missing: [String] = []
        if !showsEverything { missing.append("rights") }
        if whole.part != nil { missing.append("classes") }
        return missing
    }

    /// Adds the header field `Realm-Partial` when the response may cover a part of the file only.
    package func addMissingParts(to response: inout Response) {
        let missing = missingParts
        if !missing.isEmpty { response.add("Realm-Partial", missing.joined(separator: ", ")) }
    }

    /// Returns the class that the path names.
    ///
    /// - Throws: `class_not_found`; the detail proposes a similar name.
    package func table() throws(Problem) -> Table {
        let name = try call.match[.class]
        guard let table = snapshot.classTable(named: name) else {
            try call.requireNoOtherRights(on: name, in: snapshot)
            throw .noClass(name, in: snapshot)
        }
        return table
    }

    /// Returns the object that the path names.
    ///
    /// - Parameter table: The class in which the key is looked up.
    /// - Throws: `object_not_found`.
    package func row(in table: Table) throws(Problem) -> Row {
        let text = try call.match[.key]
        guard let row = try Problem.stored(KeyText.find(text, in: table)) else {
            throw .noObject(text, in: table)
        }
        return row
    }

    /// A compiler of plans that knows the names of linking objects in this realm.
    var planner: ObjectPlanner { ObjectPlanner(snapshot, backlinkNames: database.backlinkNames.byClass) }

    /// Writes the members of an envelope that identify the read version: `version`, and `snapshot` for a pinned one.
    package func writeVersion(to writer: inout JSONWriter) {
        writer.member("version", text: version.tokenText)
        if let lease { writer.member("snapshot", text: lease.id) }
    }

    /// Returns the entity tag of a response that any commit may change: `"v.<epoch>.<version>~<code>"`, and for a sender that may
    /// see a part of the version `"v.<epoch>.<version>~<code>~<rights>"`.
    ///
    /// - Parameter code: The code of the representation, which distinguishes answers of one
    ///   version.
    package func versionTag(_ code: String) -> String {
        guard !rightsIdentity.isEmpty else { return "\"v.\(version.tokenText)~\(code)\"" }
        // With the epoch in it, the digest does not reveal that rights are the same elsewhere.
        let digest = SecretDigest.sha256(Array("\(version.token.epoch)\n\(rightsIdentity)".utf8))
        return "\"v.\(version.tokenText)~\(code)~\(FileDigest.hex(Array(digest.prefix(8))))\""
    }

    /// The number of properties above which compiling a plan, and writing an object, takes long.
    private static let wideTable = 1000

    /// Returns the plan by which objects of a class are written.
    ///
    /// The plan of whole objects is compiled once for each version. One with `fields` or `expand` is compiled for each request.
    ///
    /// - Throws: `unknown_key_path` for `fields` or `expand` that lead nowhere.
    package func plan(_ table: Table, _ parameters: ReadParameters) throws(Problem) -> ObjectPlan {
        if table.columns.count > ReadContext.wideTable {
            try Problem.stored(call.request.budget.beginLongStep())
        }
        if parameters.fields == nil, parameters.expand.isEmpty {
            return try PlanCache.of(version).wholeObjects(of: table, in: snapshot)
        }
        let distance = try ReadParameters.SortTerm.distance(
            shownBy: parameters.fields, among: parameters.sort, of: table, in: snapshot, mapping: database.backlinkNames.mapping)
        do throws(ObjectPlanner.UnknownPath) {
            return try planner.plan(
                table, fields: parameters.fields.map { PathTree($0) }, expand: PathTree(parameters.expand), distance: distance)
        } catch {
            throw Problem(error)
        }
    }
}

extension SelectionParameters.SortTerm {
    /// Returns the meaning of `@distance` in `fields`: the distance of the first term of an order that is one.
    ///
    /// - Parameters:
    ///   - fields: The paths to show, among which `@distance` may be.
    ///   - terms: The order.
    ///   - table: The class of the objects.
    ///   - snapshot: The version of the class.
    ///   - mapping: Other names of classes and properties.
    /// - Returns: Nil when the distance is not shown, or when the order has none.
    /// - Throws: `invalid_query` or `unknown_key_path` for a malformed term.
    static func distance(
        shownBy fields: [String]?, among terms: [Self], of table: Table, in snapshot: Snapshot, mapping: KeyPathMapping
    ) throws(Problem) -> DistancePath? {
        guard fields?.contains(DistanceTerm.word) ?? false else { return nil }
        do throws(QueryError) {
            for term in terms {
                guard let term = try DistanceTerm(term.path) else { continue }
                return try DistancePath(term, from: table, in: snapshot, mapping: mapping)
            }
        } catch {
            throw Problem(error, in: QueryPartNames(text: "sort"))
        }
        return nil
    }
}

/// The parameters that the entity tag of an object has to cover.
extension ReadParameters {
    /// Whether the response shows other objects than the one it is about. Its entity tag then has to change when those do.
    package var showsOthers: Bool { !expand.isEmpty || (fields ?? []).contains { $0.contains(".") } }
}
