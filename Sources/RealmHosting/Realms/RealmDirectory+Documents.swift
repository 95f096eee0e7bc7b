// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
package import RealmCalls
internal import RealmEngine
package import RealmFormats
internal import RealmLegacy
internal import RealmPlatform
internal import RealmStorage

/// The JSON documents that describe realms, in `GET /v1/realms` and `GET /v1/realms/{realm}`.
extension RealmDirectory {
    /// Returns the document that describes a realm.
    ///
    /// - Parameters:
    ///   - call: The request that asks for it. Its rights decide whether sizes, paths, options and
    ///     reasons are shown.
    ///   - backup: The id of the backup that was made for the request; nil for none.
    /// - Throws: `realm_not_found` when there is no realm of this name.
    package func document(_ name: String, for call: Call, backup: String? = nil) throws(Problem) -> OutputBuffer {
        guard let state = catalog[name] else { throw .noRealm }
        return try document(name, state, for: call, backup: backup)
    }

    /// Returns the document that describes a realm in a state.
    ///
    /// - Parameters:
    ///   - state: Its state, which need not be the one in the catalog.
    ///   - call: The request that asks for it.
    ///   - backup: The id of the backup that was made for the request; nil for none.
    package func document(
        _ name: String, _ state: Catalog.State, for call: Call, backup: String?
    ) throws(Problem) -> OutputBuffer {
        var writer = JSONWriter()
        try write(name, state, to: &writer, for: call, backup: backup)
        return writer.buffer
    }

    /// Returns the name of the copy that was made before the file of an open realm was upgraded; nil when there is none, or it is
    /// gone.
    private func keptOriginal(_ state: Catalog.State, for call: Call) -> String? {
        guard case .ready(let database) = state, let name = database.originalName, let copies = database.copies,
            showsAll(to: call), System.entry(atPath: copies.path(of: name), followsLink: false) != nil
        else { return nil }
        return name
    }

    /// Writes the document that describes a realm.
    ///
    /// - Parameters:
    ///   - state: Its state in the catalog. Damage in one realm does not keep the others out of a
    ///     list: it becomes the member `problem`.
    ///   - writer: The writer, at a place where a value may follow.
    ///   - call: The call; the document has the part that its sender may see.
    ///   - isDryRun: Whether the realm was opened for a dry run, after which no other request reads it.
    ///   - isDetailed: Whether to search the folder of the file for the copies that were made before migrations, and to describe
    ///     the file of a realm that is not open.
    ///   - looks: Whether to read the file of a realm that is closed.
    ///   - isListed: Whether the document is one of a list, which has the short form of the report of a conversion.
    ///   - backup: The id of the backup that was made for the request; nil for that of an upgrade while the realm was opened.
    package func write(
        _ name: String, _ state: Catalog.State, to writer: inout JSONWriter, for call: Call, isDryRun: Bool = false,
        isDetailed: Bool = false, looks: Bool = false, isListed: Bool = false, backup: String? = nil
    ) throws(Problem) {
        writer.beginObject()
        writer.member("name", text: name)
        switch readable(state) {
        case .opening(let progress):
            writer.member("state", text: "opening")
            writer.key("progress")
            writer.value { _ = $0.append(shortest: progress) }
            write(ClosedRealmFileMembers(path: catalog.path(of: name)), of: name, to: &writer, for: call)
        case .closed(let realm):
            writer.member("state", text: "closed")
            write(realm, looks: looks, to: &writer, for: call)
            if isDetailed, !catalog.isReplicated(name) { describe(try? realm.inspect(), to: &writer, for: call) }
        case .failed(let error):
            writer.member("state", text: "failed")
            var facts = ClosedRealmFileMembers(path: catalog.path(of: name))
            facts.take(error)
            write(facts, of: name, to: &writer, for: call)
            writer.key("problem")
            problem(of: name, error, call).write(to: &writer, requestID: call.request.id)
            if isDetailed, let source = catalog.failedSource(name) {
                describe(try? FileInspection(path: source.path, source.options), to: &writer, for: call)
            }
        case .ready(let database):
            writer.member("state", text: "ready")
            // One damaged realm does not keep the others out of the list; nothing was written when its facts cannot be read.
            do throws(Problem) {
                try write(name, database, to: &writer, for: call, isDryRun: isDryRun, isListed: isListed)
            } catch {
                writer.key("problem")
                error.write(to: &writer, requestID: call.request.id)
            }
            if let reason = database.readOnlyReason {
                writer.key("readOnlyReason")
                problem(opening: reason, otherwise: "the file is read-only", call).write(to: &writer, requestID: call.request.id)
            }
            if isDetailed, showsAll(to: call) { write(database.copies?.list() ?? [], to: &writer) }
        }
        if access.grant(call.caller) == .administer, let attached = attachedOptions.withLock({ $0[name] }) {
            writer.key("options")
            writer.raw(Array(attached.utf8))
        }
        if !isDryRun, let backup = backup ?? keptOriginal(state, for: call) { writer.member("backup", text: backup) }
        writer.endObject()
    }

    /// The reason why a realm has failed: that of a refusal in the background, otherwise the error.
    private func problem(of name: String, _ error: StorageError, _ call: Call) -> Problem {
        let detail = Problem.notOpened
        guard let refusal = refusals.withLock({ $0[name] }) else {
            return problem(opening: error, otherwise: detail, call)
        }
        return access.grant(call.caller) == .administer ? refusal : Problem(refusal.code, detail)
    }

    /// Keeps the reason why a realm that is attached in the background was refused; nil forgets it. Reasons of realms that are no
    /// longer listed as failed are forgotten too.
    func noteRefusal(_ refusal: Problem?, of name: String) {
        refusals.withLock { $0[name] = nil }
        guard let refusal else { return }
        let kept = refusals.withLock { $0.keys.texts }
        let gone = kept.filter { name in
            if case .failed? = catalog[name] { return false }
            return true
        }
        refusals.withLock { refusals in
            for name in gone { refusals[name] = nil }
            refusals[name] = refusal
        }
    }

    /// The reason why a file was not opened, or not for writing. It may name folders of the
    /// machine, so only administrators get it in full; others get `detail`.
    private func problem(opening error: StorageError, otherwise detail: String, _ call: Call) -> Problem {
        var problem = Problem(opening: error)
        if access.grant(call.caller) < .administer { problem.detail = detail }
        return problem
    }

    /// The state of a realm, after a check whether another program has changed its file: then
    /// nothing of the file may be read, and the realm counts as failed.
    private func readable(_ state: Catalog.State) -> Catalog.State {
        if case .ready(let database) = state, let failure = database.health.checkFileIfDue(.now()) ?? database.absence {
            return .failed(failure)
        }
        return state
    }

    /// Writes the facts of a realm that is not open, and where its file is.
    private func write(_ facts: ClosedRealmFileMembers, of name: String, to writer: inout JSONWriter, for call: Call) {
        facts.write(to: &writer, isDefault: name == defaultRealm, showsAll: showsAll(to: call))
        guard access.grant(call.caller) == .administer, let path = catalog.path(of: name) else { return }
        writer.member("path", text: path)
    }

    /// Writes the member `file`, which describes the file of a realm that is not open, for clients that may open any file.
    private func describe(
        _ file: @autoclosure () -> FileInspection?, to writer: inout JSONWriter, for call: Call
    ) {
        guard access.grant(call.caller) == .administer, var file = file() else { return }
        if options.isReadOnly { file.restrictToReading() }
        writer.key("file")
        file.write(to: &writer)
    }

    /// Writes the facts of a realm that is closed, with the reason why it could not be opened if there is one.
    ///
    /// The realm in the log of a cluster may be newer than its file here, so that file is not read.
    private func write(_ realm: ClosedRealm, looks: Bool, to writer: inout JSONWriter, for call: Call) {
        let name = realm.name.text
        var facts = ClosedRealmFileMembers(path: realm.path)
        guard looks, !catalog.isReplicated(name) else { return write(facts, of: name, to: &writer, for: call) }
        do throws(StorageError) {
            let read = try realm.readFacts()
            facts.take(read, shownBy: visibility(for: call).scope(in: name), isReadOnly: options.isReadOnly)
            write(facts, of: name, to: &writer, for: call)
            guard let reason = read.readOnlyReason else { return }
            writer.key("readOnlyReason")
            problem(opening: reason, otherwise: "the file is read-only", call).write(to: &writer, requestID: call.request.id)
        } catch {
            facts.take(error)
            write(facts, of: name, to: &writer, for: call)
            writer.key("problem")
            problem(opening: error, otherwise: Problem.notOpened, call).write(to: &writer, requestID: call.request.id)
        }
    }

    /// Writes the members of an open realm: its mode, format, size, version and counts. Classes are counted that the sender sees.
    private func write(
        _ name: String, _ database: Database, to writer: inout JSONWriter, for call: Call, isDryRun: Bool, isListed: Bool
    ) throws(Problem) {
        let showsAll = showsAll(to: call)
        let version = database.current.shown(by: visibility(for: call).scope(in: name))
        let facts = try Problem.stored(database.facts(of: version))
        writer.member("mode", text: options.isReadOnly && database.isWritable ? "ro" : database.servedMode.rawValue)
        if database.mode == .follow { writer.member("fileVersion", text: String(version.snapshot.version)) }
        writer.member("default", bool: name == defaultRealm)
        writer.member("inMemory", bool: database.memoryIdentifier != nil)
        writer.member("encrypted", bool: facts.isEncrypted)
        writer.member("fileFormat", int: facts.fileFormat)
        ClosedRealmFileMembers.write(writersOf: facts.fileFormat, to: &writer)
        if let schemaVersion = facts.schemaVersion {
            writer.member("schemaVersion", int: schemaVersion)
        } else {
            writer.nullMember("schemaVersion")
        }
        if showsAll {
            writer.member("fileBytes", int: facts.fileBytes)
            writer.member("usedBytes", int: facts.usedBytes)
        }
        writer.member("classes", int: facts.classCount)
        if showsAll { writer.member("empty", bool: facts.isEmpty) }
        writer.member("version", text: version.tokenText)
        let seesAll = database.shownClasses == nil && visibility(for: call).scope(in: name) == nil
        database.conversion?.write(to: &writer, showsNames: seesAll, isWhole: !isListed)
        guard showsAll else { return }
        // The version before the rehearsed write may not have been let go of yet.
        writer.member("liveVersions", int: isDryRun ? 1 : facts.liveVersions)
        writer.member("pendingWrites", int: facts.pendingWrites)
        cluster?.write(database, to: &writer)
        if access.grant(call.caller) == .administer, !database.path.isEmpty {
            writer.member("path", text: database.path)
        }
    }

    /// Writes the array `backups`: the copies next to the file.
    private func write(_ backups: [FileCopies.Copy], to writer: inout JSONWriter) {
        guard !backups.isEmpty else { return }
        writer.key("backups")
        writer.beginArray()
        for backup in backups {
            writer.beginObject()
            writer.member("name", text: backup.name)
            writer.member("bytes", int: backup.byteCount)
            switch backup.kind {
            case .migration(let version), .request(let version): writer.member("version", int: version)
            case .replaced(let version): if let version { writer.member("version", int: version) }
            case .upgrade(let format): writer.member("fileFormat", int: format)
            }
            writer.endObject()
        }
        writer.endArray()
    }
}
