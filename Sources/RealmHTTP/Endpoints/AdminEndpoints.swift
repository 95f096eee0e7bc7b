// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// The paths below `/admin`: the leases of clients, and the configuration of the running server.
///
/// `AccessPolicy` decides on administrators; for all others the paths do not exist. They are not in the API description.
struct AdminEndpoints: Sendable {
    let server: ServerState

    /// Answers `GET /admin/leases` with all transactions, snapshots and streams that clients hold.
    ///
    /// Each has its id, kind, realm, principal and time of beginning. Transactions that have ended on their own are removed from
    /// the list first.
    ///
    /// - Throws: `unknown_parameter` for any query parameter.
    func leases(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        server.leases.removeEndedTransactions { server.catalog.database($0) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("items")
        writer.beginArray()
        for lease in server.leases.all {
            writer.beginObject()
            writer.member("id", text: lease.id)
            writer.member("kind", text: lease.kind.rawValue)
            writer.member("realm", text: lease.realm)
            writer.member("principal", text: lease.principal)
            writer.member("since", time: lease.begin)
            writer.endObject()
        }
        writer.endArray()
        writer.nullMember("next")
        writer.endObject()
        return .now(Response(unstored: writer.buffer))
    }

    /// Answers `DELETE /admin/leases/{id}`: ends one transaction, snapshot or stream, with 204.
    ///
    /// - Throws: `not_found` when there is none of this id.
    func endLease(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard server.leases.end(try call.match[.id]) else {
            throw Problem(.notFound, "there is no lease of this id")
        }
        return .now(Response(status: 204, headers: [HeaderField("Cache-Control", "no-store")]))
    }

    /// Answers `GET /admin/config`, and `PATCH`, which can change the level of the log.
    ///
    /// Both return the configuration as it is then, without secrets.
    ///
    /// - Throws: The problems of `change(_:)`.
    func configuration(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        if call.request.method == .patch { try change(call) }
        return .now(Response(unstored: configurationDocument))
    }

    /// Answers `POST /admin/reload`: reads the configuration again and puts it in force.
    ///
    /// - Throws: `unknown_parameter` for any query parameter, `invalid_body` for a body. A configuration that cannot be
    ///   read is in the reply.
    func reload(_ call: Call) throws(Problem) -> Reply {
        try call.checkQueryNames()
        guard call.request.body.isEmpty else { throw Problem(.invalidBody, "this request takes no body") }
        return .work { [reloading = server.reloading] in
            do throws(Problem) {
                return Response(unstored: try reloading.run().json)
            } catch {
                return Response(error, for: call)
            }
        }
    }

    /// Applies the body of a `PATCH`.
    ///
    /// The new level is in force for all log lines that follow; nothing is written to a file.
    ///
    /// - Throws: `invalid_body` for any member but `logLevel`, `invalid_parameter` for an unknown
    ///   level.
    private func change(_ call: Call) throws(Problem) {
        let body = try call.bodyObject()
        for member in body.members where member.name != "logLevel" {
            throw Problem(.invalidBody, "'\(member.name)' cannot be changed while the server runs").with(
                "pointer", "/" + member.name)
        }
        guard let value = body["logLevel"] else { return }
        guard let level = value.string.flatMap({ AccessLog.Level(name: $0) }) else {
            let names = AccessLog.Level.allCases.map(\.name).joined(separator: ", ")
            throw Problem.invalidParameter("logLevel", "'logLevel' must be one of: \(names)").with("pointer", "/logLevel")
        }
        server.logLevel.set(level)
    }

    /// The configuration as JSON: version, log level, modes, hosts, origins, names of realms, and all limits by name.
    ///
    /// Keys, tokens and paths are not in it.
    private var configurationDocument: OutputBuffer {
        let options = server.options
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("version", text: Build.version)
        writer.member("logLevel", text: server.logLevel.current.name)
        writer.member("readOnly", bool: options.isReadOnly)
        writer.member("serverTiming", bool: options.showsTiming)
        writer.member("console", bool: options.showsConsole)
        if let node = options.cluster.node { writer.member("node", text: node) }
        writer.key("hosts")
        write(server.rules.hosts.hosts, to: &writer)
        writer.key("origins")
        write(server.rules.origins.allowed, to: &writer)
        writer.key("realms")
        write(Set(texts: server.catalog.all.map(\.name)), to: &writer)
        writer.key("limits")
        writer.beginObject()
        for entry in Limits.entries {
            writer.key(entry.name)
            writer.int(options.limits[keyPath: entry.path])
        }
        writer.endObject()
        writer.endObject()
        return writer.buffer
    }

    /// Writes a set of names as a JSON array in alphabetical order.
    private func write(_ names: Set<ByteText>, to writer: inout JSONWriter) {
        writer.beginArray()
        for name in names.sorted() { writer.string(name.text) }
        writer.endArray()
    }
}
