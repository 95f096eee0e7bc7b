// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// A client that follows by one transport: a registration of several subscriptions, or one in the URL.
final class ReplayReader {
    let transport: Transport
    let copies: ReplayCopies
    /// Nil in the simple form.
    private(set) var registration: String?
    /// The newest version of which it has heard everything.
    private(set) var reached = ""
    private let server: ReplayServer
    private let query: String
    private var stream: EventClient?
    /// What came since the last id.
    private var events: [EventClient.Event] = []
    private var waiting: HTTPClient?
    /// The body of its registration, as it was accepted last.
    private var names: [String] = []

    /// Follows one subscription, or several and the whole realm under a registration.
    init(_ server: ReplayServer, _ transport: Transport, simple name: String) throws {
        self.server = server
        self.transport = transport
        let definition = try ReplayDefinitions.definition(name)
        query = ReplayDefinitions.query(definition)
        copies = ReplayCopies(["default": definition])
    }

    init(_ server: ReplayServer, _ transport: Transport, registered names: [String]) throws {
        self.server = server
        self.transport = transport
        query = ""
        var definitions = ["fence": ParsedJSON.object([ParsedJSON.Member]())]
        for name in names { definitions[name] = try ReplayDefinitions.definition(name) }
        copies = ReplayCopies(definitions)
        self.names = names
        registration = ""
    }

    private func fault(_ text: String) -> ClientCopy.Mismatch { ClientCopy.Mismatch(description: text) }

    /// What it observes, for messages.
    var label: String { transport.rawValue + (registration == nil ? ", " + query : "") }

    private var target: String { registration.map { "subscription=" + $0 } ?? query }
    private var position: String { copies.position }

    // MARK: - Beginning

    func begin() throws {
        if registration != nil { try register() }
        let (status, answer) = try server.poll(target)
        guard status == 200 else { throw fault("\(status): \(answer.serialized)") }
        try copies.take(poll: answer)
        reached = position
    }

    private func register() throws {
        var known = names
        while true {
            let body =
                known.map { "\"\($0)\":" + ((try? ReplayDefinitions.definition($0).serialized) ?? "{}") } + [#""fence":{}"#]
            let answer = try server.send(
                "POST", "/\(server.realm)/subscriptions", "{\"subscriptions\":{\(body.joined(separator: ","))}}")
            let json = try ParsedJSON(parsing: answer.body)
            if answer.status == 201 {
                registration = json["id"]?.text ?? ""
                names = known
                return
            }
            // In another life something observed may be missing.
            let pointer = json["pointer"]?.text?.split(separator: "/").dropFirst().first.map(String.init)
            guard answer.status == 404, let pointer, let index = known.firstIndex(of: pointer) else {
                throw fault("\(answer.text)")
            }
            known.remove(at: index)
            copies.drop([pointer])
        }
    }

    /// The realm has begun another life. The registration is gone, and the position too.
    func beginAnew() throws {
        if stream != nil {
            try drain()
            stream = nil
        }
        events = []
        waiting = nil
        if let registration {
            let (status, _) = try server.poll("subscription=\(registration)&since=\(position)")
            guard status == 404 else { throw fault("a registration of another life answers \(status)") }
            try register()
        }
        copies.expectedReset = "epoch"
    }

    /// Reads what is left of a stream that the server has ended.
    private func drain() throws {
        var last: EventClient.Event?
        while let event = try stream?.next() {
            last = event
            take(event)
            if event.id != nil { try flush() }
        }
        // A registration goes with the realm it is of.
        guard last?.name == "end", ["shutdown", "deleted"].contains(last?.json["reason"]?.text) else {
            throw fault("the stream ended with \(last.map { "\($0)" } ?? "nothing")")
        }
    }

    func disconnect() {
        stream = nil
        events = []
    }

    /// Asks for changes before there are any.
    func wait(seconds: Int) throws {
        guard transport == .polls, waiting == nil, copies.expectedReset == nil, !copies.isGone || registration != nil else {
            return
        }
        waiting = try server.beginPoll("\(target)&since=\(position)&wait=\(seconds)")
    }

    // MARK: - Catching up

    func catchUp(to version: String) throws {
        switch transport {
        case .polls: try poll(to: version)
        case .events:
            if registration == nil { try readSimple(to: version) } else { try read(to: version) }
        }
        reached = version
    }

    private func poll(to version: String) throws {
        if let client = waiting {
            waiting = nil
            let answer = try client.readAnswer()
            guard try take(answer.status, try ParsedJSON(parsing: answer.body)) else { return }
        }
        while position != version {
            let before = position
            let (status, answer) = try server.poll("\(target)&since=\(position)")
            guard try take(status, answer) else { return }
            // It stands where its object ended.
            if registration == nil, copies.isGone { return }
            if position == before { throw fault("no progress from \(before) to \(version): \(answer.serialized)") }
        }
    }

    /// False where nothing is observed any more.
    private func take(_ status: Int, _ answer: ParsedJSON) throws -> Bool {
        if status == 404, registration == nil, answer["code"]?.text == "object_not_found" {
            copies.noteGone()
            return false
        }
        guard status == 200 else { throw fault("\(status): \(answer.serialized)") }
        try copies.take(poll: answer)
        return true
    }

    /// Every version tells of the whole realm, so an id of the version comes.
    private func read(to version: String) throws {
        if position == version, copies.expectedReset == nil { return }
        try connect()
        while position != version || !events.isEmpty {
            guard let event = try stream?.next() else { throw fault("the stream ended before \(version)") }
            take(event)
            if event.id != nil { try flush() }
        }
    }

    /// Keeps an event until the next id.
    private func take(_ event: EventClient.Event) {
        if !event.name.isEmpty || event.id != nil { events.append(event) }
    }

    private func flush() throws {
        if let problem = events.first(where: { $0.name == "error" }) { throw fault("error: \(problem.data)") }
        let all = events
        events = []
        try copies.take(all)
    }

    private func connect() throws {
        guard stream == nil else { return }
        events = []
        stream = try server.stream(target, [("Last-Event-ID", position)])
        guard stream?.status == 200 else {
            let status = stream?.status ?? 0
            stream = nil
            throw status == 404 ? Gone() as any Error : fault("a stream answers \(status)")
        }
    }

    private struct Gone: Error {}

    /// Nothing may be told up to that version, so it is asked for by the other transport what is to come.
    private func readSimple(to version: String) throws {
        if copies.isGone { disconnect() }
        do {
            guard stream != nil else { return try readUntilReady() }
            let (status, answer) = try server.poll("\(query)&since=\(position)")
            guard status == 200, answer["reset"] == .null else {
                disconnect()
                return try readUntilReady()
            }
            try read(answer["changes"]?.elements ?? [])
        } catch is Gone {
            copies.noteGone()
        }
    }

    private func readUntilReady() throws {
        try connect()
        while let event = try stream?.next() {
            take(event)
            if event.id != nil { try flush() }
            if event.name == "ready" { return }
        }
        throw fault("the stream ended before it was ready")
    }

    /// Reads these sets, or a new beginning.
    private func read(_ expected: [ParsedJSON]) throws {
        var rest = expected[...]
        while let set = rest.first {
            guard let event = try stream?.next() else { throw fault("the stream ended before \(set.serialized)") }
            if event.name == "error" { throw fault("error: \(event.data)") }
            take(event)
            if event.name == "changes" {
                // By another way the same is told; only the position that it follows may be an earlier one.
                guard event.json.withoutFrom == set.withoutFrom else { throw fault("\(event.data) instead of \(set.serialized)") }
                rest = rest.dropFirst()
            }
            if event.id != nil { try flush() }
            if event.name == "ready" { return }
        }
    }

    /// Lets everything go.
    func end() {
        stream = nil
        waiting = nil
    }
}

extension ParsedJSON {
    fileprivate var withoutFrom: String {
        ParsedJSON.object((members ?? []).filter { $0.name != "from" }.map { ($0.name, $0.value) }).serialized
    }
}
