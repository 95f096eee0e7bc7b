// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The pages for people, which are the console and the documents, and the client for pages of other origins.
///
/// All are parts of the program and reveal nothing about the served realms.
struct PageEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET /`: browsers with the console, programs with an index of the server.
    ///
    /// - Throws: `unknown_parameter` for any query parameter.
    func index(_ call: Call) throws(Problem) -> Reply {
        if server.options.showsConsole, PageRequest.prefersPage(call.request), let console = server.pages.console {
            return .now(console.response(to: call))
        }
        try call.checkQueryNames()
        return .now(Response(unstored: index(for: call)))
    }

    /// Returns the index: the paths for programs, and the version for clients that may read it.
    private func index(for call: Call) -> OutputBuffer {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", text: Build.name)
        if call.caller.principal.logName != nil || AccessPolicy.grant(call.caller.principal) >= .read {
            writer.member("version", text: Build.version)
        }
        let links: [(StaticString, String)] = [
            ("realms", "/v1/realms"), ("me", "/v1/me"), ("health", "/healthz"), ("ready", "/readyz"),
        ]
        for (name, path) in links { writer.member(name, text: path) }
        writer.member("client", text: "/client.js")
        writer.key("documents")
        writer.beginObject()
        writer.member("openapi", text: "/v1/openapi.json")
        if server.options.showsConsole {
            for name in ["api", "query", "problems"] as [StaticString] {
                writer.member(name, text: "/docs/\(name)" + (name.description == "problems" ? "/" : ""))
            }
        }
        writer.endObject()
        writer.endObject()
        return writer.buffer
    }

    /// Answers `GET /console/{path}` with a file of the console.
    ///
    /// - Throws: `not_found` when there is no such file.
    func file(_ call: Call) throws(Problem) -> Reply {
        guard server.options.showsConsole, let file = server.pages.file(try call.match[.path]) else {
            throw PageEndpoints.nothing
        }
        return .now(file.response(to: call))
    }

    /// Answers `GET /client.js` and `GET /client.d.ts`, whether there are pages or not: other servers' pages use the client too.
    func client(_ call: Call) throws(Problem) -> Reply {
        guard let file = server.pages.clientFile(call.request.target.path) else { throw PageEndpoints.nothing }
        return .now(file.response(to: call))
    }

    /// Answers `GET /docs/` and the paths below it with a page.
    ///
    /// - Throws: `not_found` when there is no such page.
    func document(_ call: Call) throws(Problem) -> Reply {
        let path = String(call.request.target.path.dropFirst("/docs/".count))
        guard server.options.showsConsole else { throw PageEndpoints.nothing }
        // A page may have to be made first.
        return .work { [pages = server.pages] in
            pages.document(path)?.response(to: call) ?? Response(PageEndpoints.nothing, for: call)
        }
    }

    /// Answers the path of a folder of pages without its slash: the pages are found with it, as their links start from there.
    func folder(_ call: Call) throws(Problem) -> Reply {
        guard server.options.showsConsole else { throw PageEndpoints.nothing }
        var response = Response(status: 308)
        response.addLocation(call.request.target.path + "/")
        response.headers += PageFile.rules
        response.isPage = true
        return .now(response)
    }

    /// The 404 for a page that does not exist.
    private static let nothing = Problem(.notFound, "there is no such page")
}
