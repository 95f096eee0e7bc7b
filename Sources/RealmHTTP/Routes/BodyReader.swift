// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// How request bodies are received: how long they may be, where long ones are stored, and how
/// packed ones are inflated.
struct BodyReader: Sendable {
    /// Folders for the files of long bodies, in the order in which they are tried.
    private let spoolFolders: [String]
    /// The limits of the server, of which those on bodies and imports are used here.
    private let liveLimits: LiveLimits
    /// The limits in force.
    private var limits: Limits { liveLimits.current }

    /// Takes the limits and folders of a server.
    ///
    /// - Parameter state: The state that the server was made with.
    init(_ state: ServerState) {
        spoolFolders = state.spoolFolders
        liveLimits = state.liveLimits
    }

    /// Admits a request and states how much of a body it may send.
    ///
    /// - Parameter request: A request that passed all checks of its head.
    /// - Returns: The bound in bytes, and folders if the body may be stored in a file while it
    ///   arrives.
    func admission(of request: Request) -> Admission {
        .accept(bodyLimit: bodyLimit(of: request), spoolFolders: hasLongBody(request) ? spoolFolders : [])
    }

    /// Whether the path takes long bodies, as an import does.
    private func hasLongBody(_ request: Request) -> Bool { RouteTable.route(of: request).traits.contains(.hasLongBodies) }

    /// Returns the bound on the body of a request in bytes, before and after inflating.
    private func bodyLimit(of request: Request) -> Int {
        let own = request.roleLimits
        return hasLongBody(request) ? own?[.importBytes] ?? limits.importBytes : own?[.bodyBytes] ?? limits.bodyBytes
    }

    /// Checks the length of a body that was received before it was known who sends it.
    ///
    /// - Throws: `body_too_large`.
    func checkLength(ofBodyOf request: Request) throws(Problem) {
        let byteCount = request.bodyFile?.byteCount ?? request.body.count
        let limit = bodyLimit(of: request)
        guard byteCount <= limit else {
            throw .overLimit(.bodyTooLarge, "the body is larger than \(limit) bytes", limit: limit)
        }
    }

    /// Undoes the content coding of a body that is in memory, and charges the client for the memory
    /// of the plain one.
    ///
    /// A packed body for a path that takes long bodies is moved to a file first, because even a
    /// short one can inflate to any length; such a file is inflated while it is read. Bodies
    /// without content coding are left as they are.
    ///
    /// - Parameter request: A request whose body is complete.
    /// - Throws: `unsupported_media_type` for a coding other than gzip, `invalid_body` for data
    ///   that is not gzip, `body_too_large`, and the problem of a client or server whose memory for
    ///   bodies is used up.
    func inflate(bodyOf request: Request) throws(Problem) {
        guard request.isPacked else { return }
        guard request.headers[.contentEncoding]?.lowercasedASCII == "gzip" else {
            throw Problem(.unsupportedMediaType, "the only content coding of requests is gzip")
                .with(header: HeaderField("Accept-Encoding", "gzip"))
        }
        // A body in a file is inflated while it is read; even a short one can inflate to any length.
        if hasLongBody(request), request.bodyFile == nil { try spool(request) }
        guard request.bodyFile == nil else { return }
        do throws(Gzip.Failure) {
            let plain = try Gzip.inflate(request.body, limit: bodyLimit(of: request))
            request.holding?.shrink(by: request.body.count)
            request.body = plain
        } catch .tooLarge {
            throw .overLimit(
                .bodyTooLarge, "the body is larger than \(bodyLimit(of: request)) bytes", limit: bodyLimit(of: request))
        } catch {
            throw Problem(.invalidBody, "the body is not a gzip stream")
        }
        try request.holding?.require(request.body.count)
    }

    /// Moves the body of a request from memory to a file in one of the spool folders.
    ///
    /// - Throws: The problem of a disk that cannot take the file.
    private func spool(_ request: Request) throws(Problem) {
        do throws(StorageError) {
            let file = try BodyFile.make(inOneOf: spoolFolders, try request.spool?.open(for: request.account))
            try file.append(request.body)
            request.bodyFile = file
            request.forgetBody()
        } catch {
            throw Problem(spooling: error)
        }
    }
}
