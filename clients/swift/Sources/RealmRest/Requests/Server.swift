import Synchronization

/// A client of the server at `url`; nothing is sent yet.
///
/// `timeout` is that of one request in seconds, `attempts` how often reads are tried when no answer comes.
public func connect(
    _ url: String, key: Credential? = nil, timeout: Double = 30, attempts: Int = 3, options: LiveOptions = LiveOptions()
) -> Server {
    Server(transport: Transport(url: url, credential: key, timeout: timeout, attempts: attempts), options: options)
}

/// A server. `close()` ends all that is live and closes all connections.
public final class Server: Sendable {
    let transport: Transport
    private let options: LiveOptions
    private let hubs = Mutex<[String: Hub]>([:])

    init(transport: Transport, options: LiveOptions) {
        self.transport = transport
        self.options = options
    }

    /// A realm by name. Live objects of the same realm share streams.
    public func realm(_ name: String) -> Realm {
        let path = "/v1/realms/\(encoded(name))"
        let hub = hubs.withLock { hubs in
            let hub = hubs[name] ?? Hub(transport: transport, path: path, options: options)
            hubs[name] = hub
            return hub
        }
        return Realm(name: name, path: path, transport: transport, hub: hub, context: .live)
    }

    /// The documents of the realms that are visible.
    public func realms() async throws -> [JSON] {
        var (items, after): ([JSON], String?) = ([], nil)
        repeat {
            let query = after.map { [("after", $0)] } ?? []
            let body = try await transport.request("GET", "/v1/realms", query: query, safe: true).json()
            items += body["items"]?.elements ?? []
            after = body["next"]?.text
        } while after != nil
        return items
    }

    public func close() async {
        for hub in hubs.withLock({ Array($0.values) }) { await hub.close() }
        transport.close()
    }
}
