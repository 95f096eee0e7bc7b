// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How bodies are taken in: how long they may be, where long ones are kept, and how packed ones are unpacked.
struct BodyReader: Sendable {
    /// Where long bodies are kept until they are read.
    private let spoolFolders: [String]
    private let limits: Limits

    /// The bodies of the requests of a server.
    init(_ state: ServerState) {
        spoolFolders = state.spoolFolders
        limits = state.limits
    }

    /// Lets a request send its body.
    func admission(of request: Request) -> Admission {
        .accept(bodyLimit: bodyLimit(of: request), spoolFolders: hasLongBody(request) ? spoolFolders : [])
    }

    private func hasLongBody(_ request: Request) -> Bool { RouteTable.route(of: request).traits.contains(.hasLongBodies) }

    private func bodyLimit(of request: Request) -> Int { hasLongBody(request) ? limits.importBytes : limits.bodyBytes }

    /// Undoes the content coding of a body that is in memory.
    func inflate(bodyOf request: Request) throws(Problem) {
        guard request.isPacked else { return }
        guard request.headers[.contentEncoding]?.lowercased() == "gzip" else {
            throw Problem(.unsupportedMediaType, "the only content coding of requests is gzip")
                .with(header: HeaderField("Accept-Encoding", "gzip"))
        }
        // A body in a file is unpacked by whoever reads it; a short one may become as long as any.
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
            throw Problem(.invalidBody, "the body is no gzip stream")
        }
        try request.holding?.require(request.body.count)
    }

    private func spool(_ request: Request) throws(Problem) {
        do throws(StorageError) {
            let file = try BodyFile.make(inOneOf: spoolFolders, try request.spool?.open(for: request.client))
            try file.append(request.body)
            request.bodyFile = file
            request.forgetBody()
        } catch {
            throw Problem(spooling: error)
        }
    }
}
