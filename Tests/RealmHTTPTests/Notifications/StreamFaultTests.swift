// SPDX-License-Identifier: Apache-2.0

import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@Suite("Clients of streams that misbehave (A23)", .ownThread)
struct StreamFaultTests {
    private static let dogs = ChangeFixture.query(["class": "Dog", "include": "keys"])
    private static let target = "/v1/realms/app/changes?" + dogs

    // MARK: - Clients that do not read

    @Test(.enabled(if: ServerProcess.executable != nil, "the executable is not built"))
    func
        `a client that stops reading is reset when it reads again; meanwhile memory is bounded, and others hear of every commit`()
        throws
    {
        let server = try FaultServer(limits: ["queue-events=16", "retention-bytes=4194304", "retention-sets=64"])
        try server.write([FaultServer.upsert(1, 0)])
        let stalled = try EventClient(port: server.port, FaultServer.changes("class=Item"), receiveBuffer: 4096)
        let reading = try EventClient(port: server.port, FaultServer.changes("class=Item&include=keys"))
        for client in [stalled, reading] {
            _ = try client.next("snapshot")
            _ = try client.next("ready")
        }
        let text = String(repeating: "x", count: 256 << 10)
        func commit(_ round: Int) throws {
            let version = try server.write([FaultServer.upsert(1, round, text)])
            #expect(try reading.next("changes").id == version)
        }
        for round in 0..<40 { try commit(round) }
        let before = server.memory
        // Four times as much as was there to warm up, none of which may stay.
        for round in 40..<200 { try commit(round) }
        let growth = (server.memory - before) >> 20
        #expect(growth < 24, "\(growth) MiB more after 40 MiB of changes that nobody read")
        #expect(try server.metric("streams") == 2)
        // A busy machine may have let it fall behind before its connection was full, and reset it then, too.
        var reasons: [String] = []
        var newest: Int64?
        while newest != 199, let event = try stalled.next() {
            if event.name == "reset" { reasons.append(event.json["reason"]?.text ?? "") }
            if event.name == "snapshot" { newest = event.json["items"]?.elements?.first?["object"]?["n"]?.integer }
        }
        #expect(reasons.contains("overflow") && reasons.allSatisfy { ["overflow", "retention"].contains($0) }, "\(reasons)")
        #expect(try stalled.next("ready").id != nil)
        let version = try server.write([FaultServer.upsert(2, 0)])
        #expect(try stalled.next("changes").id == version && reading.next("changes").id == version)
    }

    @Test(arguments: [30, 2])
    func
        `a client that never reads again is let go of after its time, also where all fits into the buffers of its connection; one that has nothing to read is not`(
            _ commits: Int
        ) throws
    {
        let fixture = try ChangeFixture { options in
            options.limits.http.stallSeconds = 1
            options.limits.http.heartbeat = 1
            options.limits.retentionSeconds = 0
        }
        let idle = try fixture.server.stream("app", "class=Person&keyPaths=age&include=keys")
        _ = try idle.next("snapshot")
        _ = try idle.next("ready")
        let stalled = try RawConnection(port: fixture.server.port, "/v1/realms/app/changes?class=Dog", receiveBuffer: 4096)
        #expect(stalled.read(until: "event: ready"))
        let text = String(repeating: "x", count: 400_000)
        for round in 0..<commits {
            try fixture.write("{\"patch\":{\"class\":\"Dog\",\"key\":\"1\",\"body\":{\"name\":\"\(round)\(text)\"}}}")
        }
        #expect(try eventually { try fixture.server.metric("streams") == 1 })
        #expect(try eventually { try fixture.server.metric("observed_definitions") == 1 })
        let version = try fixture.write(fixture.patch(#"{"age":50}"#))
        #expect(try idle.next("changes").id == version)
        withExtendedLifetime(stalled) {}
    }

    @Test func `a client that reads late, and little at a time, gets every event whole and in order`() throws {
        let fixture = try ChangeFixture { options in
            options.limits.queueEvents = 1 << 20
            options.limits.queueBytes = 1 << 30
            options.limits.http.heartbeat = 3600
        }
        let late = try (0..<4).map { _ in
            try fixture.server.stream("app", "class=Dog&keyPaths=name", receiveBuffer: 4096)
        }
        for client in late {
            _ = try client.next("snapshot")
            _ = try client.next("ready")
        }
        // More than the buffers of a connection take, in chunks of all lengths.
        var random = SeededGenerator(seed: 77)
        let texts = (0..<400).map { "\($0) " + String(repeating: "x", count: Int.random(in: 0..<40_000, using: &random)) }
        func write(_ text: String) throws -> String {
            try fixture.write("{\"patch\":{\"class\":\"Dog\",\"key\":\"1\",\"body\":{\"name\":\"\(text)\"}}}")
        }
        let versions = try texts.map(write)
        let written = Dictionary(uniqueKeysWithValues: zip(versions, texts))
        for client in late {
            var position = client.lastID
            var count = 0
            // Commits that follow each other closely may have one event, which has the text of the last one.
            while position != versions.last {
                let event = try client.next("changes")
                #expect(event.json["from"]?.text == position)
                position = event.id
                count += 1
                guard let text = position.flatMap({ written[$0] }), event.data.contains("\"\(text)\"") else {
                    Issue.record("the text of \(position ?? "") is not in its event: \(event.data.prefix(200))")
                    return
                }
            }
            #expect(count > 40)
        }
        // They hear at once again.
        let last = try write("last")
        for client in late { #expect(try client.next("changes").id == last) }
    }

    // MARK: - Clients that go

    @Test(.enabled(if: TestSocket.canBecomeDeaf, "this system lets no client vanish"))
    func `a client that is gone without a word is found within two signs of life`() throws {
        let fixture = try ChangeFixture { options in
            options.limits.http.heartbeat = 1
            options.limits.retentionSeconds = 0
        }
        let gone = try (0..<10).map { _ in try RawConnection(port: fixture.server.port, StreamFaultTests.target) }
        for client in gone { #expect(client.read(until: "event: ready")) }
        let other = try fixture.server.stream("app", "class=Person&include=none&hb=event")
        _ = try other.next("snapshot")
        _ = try other.next("ready")
        let server = fixture.server
        // Those who vanish after a commit leave something unread; the others leave nothing.
        for client in gone.prefix(5) { #expect(client.socket.becomeDeaf()) }
        try fixture.write(fixture.create(9))
        for client in gone.suffix(5) { #expect(client.read(until: "event: changes") && client.socket.becomeDeaf()) }
        // Signs of life that somebody else gets are the clock of this: one is due before the first that is not answered,
        // and the watch gets to each connection at its own time.
        var beats = 0
        while try server.metric("streams") != 1, beats < 30 {
            _ = try other.next("heartbeat")
            beats += 1
        }
        #expect(beats <= 3)
        #expect(try eventually { try server.metric("observed_definitions") == 1 })
        #expect(server.server.daemon.deadClients == 10)
        withExtendedLifetime(gone) {}
    }

    @Test func `a client that has no memory for what it is sent says so, and is not taken for dead`() throws {
        let fixture = try ChangeFixture { $0.limits.http.heartbeat = 1 }
        let server = fixture.server
        let short = try RawConnection(port: server.port, "/v1/realms/app/changes?class=Dog&hb=event")
        #expect(short.read(until: "event: ready"))
        let other = try server.stream("app", "class=Person&keyPaths=age&include=none&hb=event")
        _ = try other.next("snapshot")
        _ = try other.next("ready")
        short.socket.setReceiveBuffer(1)
        let text = String(repeating: "x", count: 20_000)
        for round in 0..<3 {
            try fixture.write("{\"patch\":{\"class\":\"Dog\",\"key\":\"1\",\"body\":{\"name\":\"\(round)\(text)\"}}}")
        }
        for _ in 0..<4 { _ = try other.next("heartbeat") }
        #expect(short.socket.unreadByteCount < 20_000, "all of it was taken, so that this shows nothing")
        #expect(server.server.daemon.deadClients == 0)
        #expect(try server.metric("streams") == 2)
        short.socket.setReceiveBuffer(1 << 20)
        #expect(short.read(until: "\"2xxxx"))
    }

    @Test(arguments: [false, true])
    func `a stream that is broken off, at rest or in the middle of a snapshot, is let go of at once`(_ inSnapshot: Bool) throws {
        let fixture = try ChangeFixture { $0.limits.retentionSeconds = 0 }
        if inSnapshot {
            for start in [1000, 1600, 2200] { try fixture.server.batch("app", (start..<start + 600).map { fixture.create($0) }) }
        }
        let clients = try (0..<8).map { _ in
            try RawConnection(
                port: fixture.server.port, "/v1/realms/app/changes?class=Dog", receiveBuffer: inSnapshot ? 4096 : nil)
        }
        for client in clients {
            #expect(client.read(until: inSnapshot ? "event: snapshot" : "event: ready"))
            client.socket.reset()
        }
        #expect(try eventually { try fixture.server.metric("streams") == 0 })
        #expect(try eventually { try fixture.server.metric("observed_definitions") == 0 })
        #expect(try eventually { try fixture.server.metric("live_versions{realm=\"app\"}") ?? 9 <= 1 })
        #expect(eventually { fixture.server.server.daemon.connectionCount <= 1 })
    }

    @Test(arguments: ["close", "reset", "half"])
    func `whoever leaves while it waits gives its place back, however it leaves`(_ way: String) throws {
        let fixture = try ChangeFixture { $0.limits.retentionSeconds = 0 }
        let now = try fixture.server.poll("app", StreamFaultTests.dogs + "&since=now")["next"]?.text ?? ""
        let polls = try (0..<10).map { _ in
            try RawConnection(
                port: fixture.server.port, StreamFaultTests.target + "&since=\(now)&wait=55", accept: "application/json")
        }
        #expect(try eventually { try fixture.server.metric("waiting_polls") == 10 })
        for poll in polls {
            switch way {
            case "close": poll.socket.close()
            case "reset": poll.socket.reset()
            default: poll.socket.finishSending()
            }
        }
        // Far below the time for which they would have waited.
        #expect(try eventually(seconds: 40) { try fixture.server.metric("waiting_polls") == 0 })
        #expect(try eventually { try fixture.server.metric("observed_definitions") == 0 })
    }

    // MARK: - Streams that end

    @Test func `a stream that ends while its client does not read breaks off between two events, never in the middle of one`()
        throws
    {
        let fixture = try ChangeFixture { options in
            options.limits.queueEvents = 1 << 20
            options.limits.queueBytes = 1 << 30
            options.limits.registrationNames = 400
            // Nobody looks meanwhile whether these clients are there, however long a busy machine takes.
            options.limits.http.heartbeat = 3600
        }
        let pad = String(repeating: "n", count: 60)
        let members = (0..<400).map { "\"\(pad)\($0)\":{\"class\":\"Dog\",\"include\":\"keys\"}" }.joined(separator: ",")
        let answer = try fixture.server.must("POST", "app/subscriptions", "{\"subscriptions\":{\(members)}}")
        let clients = try (0..<8).map { _ in
            try EventClient(port: fixture.server.port, answer["url"]?.text ?? "", receiveBuffer: 4096)
        }
        // Small events, and more of them than the buffers of a connection take.
        var newest = ""
        for round in 0..<60 { newest = try fixture.write(fixture.age(1, round)) }
        try fixture.server.must("DELETE", "app/subscriptions/\(answer["id"]?.text ?? "")")
        var hadAll = 0
        for client in clients {
            var last: EventClient.Event?
            // An event that was cut takes the end for a part of itself.
            while let event = try client.next() {
                if !event.name.isEmpty { last = event }
            }
            #expect(
                last?.name == "end" && last?.json["reason"]?.text == "deleted",
                "\(fixture.server.server.daemon.deadClients) found dead: \(last?.data.suffix(200) ?? "")")
            if client.lastID == newest { hadAll += 1 }
        }
        // Otherwise nothing was shown.
        #expect(hadAll < clients.count)
    }

    @Test func `a stream ends when it got old, and nothing is lost or told twice however often it is resumed`() throws {
        let fixture = try ChangeFixture { $0.limits.http.streamSeconds = 1 }
        let isDone = Atomic<Bool>(false)
        let server = fixture.server
        let writer = StoppingThread {
            var id = 1000
            while !isDone.load(ordering: .relaxed) {
                _ = try? server.batch("app", [fixture.create(id)])
                if id % 3 == 0 { _ = try? server.batch("app", [fixture.delete("Dog", "\(id)")]) }
                id += 1
                Threads.sleep(seconds: 0.005)
            }
        }
        var copy = ClientCopy()
        var position: String?
        var ends = 0
        while ends < 4 {
            let stream = try server.stream("app", StreamFaultTests.dogs, position.map { [("Last-Event-ID", $0)] } ?? [])
            var from = position
            while let event = try stream.next() {
                if event.name == "end" {
                    #expect(event.json["reason"]?.text == "age")
                    ends += 1
                }
                #expect(event.name != "reset" && event.name != "error", "\(event.data.prefix(200))")
                if event.name == "snapshot" {
                    #expect(position == nil)
                    copy.take(snapshot: event.json)
                    from = event.json["version"]?.text
                }
                if event.name == "changes" {
                    #expect(event.json["from"]?.text == from)
                    try copy.apply(event.json)
                }
                if let id = event.id { from = id }
            }
            position = stream.lastID
        }
        isDone.store(true, ordering: .relaxed)
        writer.wait()
        let rest = try server.poll("app", StreamFaultTests.dogs + "&since=\(position ?? "")")
        #expect(rest["reset"] == .null)
        for set in rest["changes"]?.elements ?? [] { try copy.apply(set) }
        var fresh = ClientCopy()
        fresh.take(snapshot: try server.poll("app", StreamFaultTests.dogs)["snapshots"]?.elements?.first ?? .null)
        #expect(copy.rows == fresh.rows && !fresh.rows.isEmpty)
    }
}
