// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The handling of request bodies: their limits, the place of long ones, and decompression.
struct BodyReader: Sendable {
    /// The parts that the requests of the server share.
    private let server: ServerState
    /// Folders for the files of long bodies, in the order in which they are tried.
    private let spoolFolders: [String]

    /// Takes the limits and folders of a server.
    init(_ server: ServerState) {
        self.server = server
        spoolFolders = server.spoolFolders
    }

    /// Admits a request and states the limit of its body.
    ///
    /// - Parameter call: A request that passed all checks of its head.
    /// - Returns: The bound in bytes, and folders if the body may be stored in a file while it
    ///   arrives.
    func admission(of call: Call) -> Admission {
        var refusal: (@Sendable () -> Problem?)?
        // A sender whose token is not verified yet has no standing.
        if call.request.announcesBody, call.caller.unverifiedToken == nil {
            refusal = { [standing = call.standing] in standing.problem }
        }
        return .accept(bodyLimit: bodyLimit(of: call), spoolFolders: hasLongBody(call) ? spoolFolders : [], refusal: refusal)
    }

    /// Whether the path takes long bodies, as an import does.
    private func hasLongBody(_ call: Call) -> Bool { RouteTable.route(of: call).traits.contains(.hasLongBodies) }

    /// Returns the bound on the body of a request in bytes, before and after inflating.
    private func bodyLimit(of call: Call) -> Int {
        let own = call.caller.roleLimits
        let limits = server.limits
        return hasLongBody(call) ? own?[.importBytes] ?? limits.importBytes : own?[.bodyBytes] ?? limits.bodyBytes
    }

    /// Checks the length of a body that was received before its sender was known.
    ///
    /// - Throws: `body_too_large`.
    func checkLength(ofBodyOf call: Call) throws(Problem) {
        let byteCount = call.request.body.file?.byteCount ?? call.request.body.bytes.count
        let limit = bodyLimit(of: call)
        guard byteCount <= limit else {
            throw .overLimit(.bodyTooLarge, "the body is larger than \(limit) bytes", limit: limit)
        }
    }

    /// Undoes the content coding of a body that is in memory, and charges the client for the memory of the plain one.
    ///
    /// A packed body for a path that takes long bodies is moved to a file first, because even a short one can inflate to any
    /// length; such a file is inflated while it is read. Bodies without content coding are left as they are.
    ///
    /// - Parameter call: A request whose body is complete.
    /// - Throws: `unsupported_media_type` for a coding other than gzip, `invalid_body` for data
    ///   that is not gzip, `body_too_large`, and the problem of a client or server whose memory for
    ///   bodies is used up.
    func inflate(bodyOf call: Call) throws(Problem) {
        guard call.request.isPacked else { return }
        guard call.request[.contentEncoding]?.lowercasedASCII == "gzip" else {
            throw Problem(.unsupportedMediaType, "the content coding of a request must be gzip")
                .with(header: HeaderField("Accept-Encoding", "gzip"))
        }
        // A body in a file is inflated while it is read; even a short one can inflate to any length.
        if hasLongBody(call), call.request.body.file == nil { try spool(call) }
        guard call.request.body.file == nil else { return }
        do throws(Gzip.Failure) {
            let plain = try Gzip.inflate(call.request.body.bytes, limit: bodyLimit(of: call))
            call.request.body.holding?.shrink(by: call.request.body.bytes.count)
            call.request.body.bytes = plain
        } catch .tooLarge {
            throw .overLimit(
                .bodyTooLarge, "the body is larger than \(bodyLimit(of: call)) bytes", limit: bodyLimit(of: call))
        } catch {
            throw Problem(.invalidBody, "the body is not a gzip stream")
        }
        try call.request.body.holding?.require(call.request.body.bytes.count)
    }

    /// Moves the body of a request from memory to a file in one of the spool folders.
    ///
    /// - Throws: The problem of a disk that cannot take the file.
    private func spool(_ call: Call) throws(Problem) {
        do throws(StorageError) {
            let file = try BodyFile.make(inOneOf: spoolFolders, try call.request.body.spool?.open(for: call.account))
            try file.append(call.request.body.bytes)
            call.request.body.file = file
            call.request.body.forget()
        } catch {
            throw Problem(spooling: error)
        }
    }
}
