// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Realm files that clients send for inspection.
struct UploadEndpoints: Sendable {
    let server: ServerState

    /// Answers `POST /v1/uploads`: serves a private copy of the Realm file in the body.
    ///
    /// The copy can be changed. It has no name in any folder, and is gone when the realm is detached or the server ends.
    ///
    /// - Parameter call: The call, whose body is the file.
    /// - Returns: A reply with 201 and the realm's document, completed when the copy is served.
    /// - Throws: `invalid_parameter` for the name or the key, `not_a_realm` without a body. Problems of the file are in the reply.
    func upload(_ call: Call) throws(Problem) -> Reply {
        let options = try WriteOptions(call).synchronous
        try options.condition.requireNothing()
        guard !call.request.body.isEmpty else {
            throw Problem(.notARealm, "the file is empty: the body of the request has no bytes")
        }
        guard options.bodyType != nil else { throw Problem(.invalidBody, "the body is missing") }
        guard let name = try options.parameters.text("name").flatMap({ RealmName($0) }) else {
            throw .invalidParameter("name", RealmName.rule)
        }
        let key = try key(of: call)
        call.audit?.setRealm(name.text)
        if options.isDryRun { call.audit?.noteDryRun() }
        return server.directory.workers.reply(to: call) { promise in
            do throws(Problem) {
                let attachment = RealmAttachment(of: try file(of: call), named: name, key: key)
                guard server.directory.catalog[name.text] == nil else { throw Problem(Catalog.Failure.alreadyAttached(name)) }
                if options.isDryRun { try server.directory.requireRoom() } else { try server.directory.reserve(attachment) }
                AttachOperation(attachment, call, server.directory, isDryRun: options.isDryRun).run(promise)
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// Reads the encryption key of the file from the header fields, where it appears in no log.
    private func key(of call: Call) throws(Problem) -> EncryptionKey? {
        guard let text = call.request[.realmEncryptionKey] else { return nil }
        do throws(StorageError) {
            return try EncryptionKey(text: text)
        } catch {
            throw .invalidHeader("Realm-Encryption-Key", "a key has 128 hex digits, or 64 bytes as base64")
        }
    }

    /// Returns the file in the body of a request.
    private func file(of call: Call) throws(Problem) -> BodyFile {
        let source = try ImportSource(bodyOf: call, server.limits, spoolFolders: server.spoolFolders)
        if let file = source.file { return file }
        do throws(StorageError) {
            let file = try BodyFile.make(inOneOf: server.spoolFolders, try call.request.body.spool?.open(for: call.account))
            try file.append(call.request.body.bytes)
            call.request.body.forget()
            return file
        } catch {
            throw Problem(spooling: error)
        }
    }
}
