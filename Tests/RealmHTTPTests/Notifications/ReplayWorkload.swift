// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport

/// One random workload, and clients of all kinds that follow it.
struct ReplayWorkload {
    private let server: ReplayServer
    private var operations: ReplayOperations
    private var readers: [ReplayReader] = []
    private let hasTightLimits: Bool
    private let pins = Pins()
    /// The version after the last commit.
    private var version = ""

    /// Versions that are held, to be read when a client has come there.
    private final class Pins {
        var ids: [String: String] = [:]
    }

    init(seed: UInt64) throws {
        operations = ReplayOperations(random: SeededGenerator(seed: seed))
        let tightLimit: ReplayServer.TightLimit? = seed % 5 == 3 ? .retention : seed % 5 == 4 ? .queue : nil
        hasTightLimits = tightLimit != nil
        server = try ReplayServer(inMemory: seed % 4 == 1, tightLimit: tightLimit)
        version =
            try server.must("POST", "/\(server.realm)/batch", "{\"ops\":[\(ReplayOperations.beginning.joined(separator: ","))]}")[
                "version"]?.text ?? ""
        try makeReaders()
    }

    private mutating func number(_ bound: Int) -> Int { operations.number(bound) }

    private mutating func makeReaders() throws {
        let names = ReplayDefinitions.all.map(\.name).shuffled(using: &operations.random)
        for (index, transport) in Transport.allCases.enumerated() {
            readers.append(try ReplayReader(server, transport, registered: Array(names[index * 4..<index * 4 + 10])))
            for name in names.shuffled(using: &operations.random).prefix(2) {
                let reader = try ReplayReader(server, transport, simple: name)
                // At the version at which one object ended and another took its place it is not known which of them is meant.
                if ["dog", "kid", "home", "rooms"].contains(name) { reader.copies.allowedResets = ["retention"] }
                readers.append(reader)
            }
        }
        for reader in readers {
            if hasTightLimits { reader.copies.allowedResets.formUnion(["overflow", "retention"]) }
            reader.copies.didReach = { [server, pins] version in try ReplayWorkload.check(reader, at: version, server, pins) }
            try reader.begin()
        }
    }

    // MARK: - Steps

    mutating func run(steps: Int) throws {
        defer { for reader in readers { reader.end() } }
        let restart = number(steps * 2)
        for step in 0..<steps {
            do {
                if step == restart { try beginAnew() }
                try self.step(isLast: step == steps - 1)
            } catch {
                throw ClientCopy.Mismatch(description: "step \(step): \(error)")
            }
        }
    }

    private mutating func beginAnew() throws {
        pins.ids = [:]
        try server.beginAnew()
        if server.losesContents {
            version =
                try server.must(
                    "POST", "/\(server.realm)/batch", "{\"ops\":[\(ReplayOperations.beginning.joined(separator: ","))]}")[
                    "version"]?.text ?? ""
        }
        for reader in readers { try reader.beginAnew() }
    }

    private mutating func step(isLast: Bool) throws {
        let isPinning = number(4) == 0
        for reader in readers where number(4) == 0 {
            // What a poll in the simple form waits for may not come.
            if reader.registration != nil {
                try reader.wait(seconds: [5, 20, 55][number(3)])
            } else if number(40) == 0 {
                try reader.wait(seconds: 1)
            }
        }
        for _ in 0...number(3) { try commit(isPinning: isPinning) }
        for reader in readers {
            if number(4) == 0 { reader.disconnect() }
            if !isLast, number(3) == 0 { continue }
            do {
                try reader.catchUp(to: version)
                try check(reader)
            } catch {
                throw ClientCopy.Mismatch(description: "\(reader.label): \(error)")
            }
        }
        for id in pins.ids.values { try server.must("DELETE", "/\(server.realm)/snapshots/\(id)") }
        pins.ids = [:]
    }

    private mutating func commit(isPinning: Bool) throws {
        // It writes something in any case, for those who wait.
        let ops = [#"{"patch":{"class":"Person","key":"ann","body":{"any":1}}}"#] + (0...number(6)).map { _ in operations.next() }
        var skipped: (reader: ReplayReader, name: String)?
        var headers: [(String, String)] = []
        if number(10) == 0, let reader = readers.filter({ $0.registration != nil }).randomElement(using: &operations.random),
            let registration = reader.registration,
            let name = reader.copies.definitions.keys.sorted().randomElement(using: &operations.random)
        {
            skipped = (reader, name)
            headers = [("Realm-Without-Notifying", registration + "/" + name)]
        }
        let answer = try server.send("POST", "/\(server.realm)/batch", "{\"ops\":[\(ops.joined(separator: ","))]}", headers)
        // An operation may have nowhere to go; then nothing was written.
        guard answer.status == 200 else {
            guard [404, 422].contains(answer.status) else { throw ClientCopy.Mismatch(description: answer.text) }
            return
        }
        version = try ParsedJSON(parsing: answer.body)["version"]?.text ?? ""
        if let (reader, name) = skipped { reader.copies.expectSkip(name, at: version) }
        if isPinning { pins.ids[version] = try server.must("POST", "/\(server.realm)/snapshots")["id"]?.text }
    }

    // MARK: - Checks

    /// Compares every copy with a fresh snapshot of the same definition, and one with what reading says.
    private mutating func check(_ reader: ReplayReader) throws {
        try reader.copies.checkSkips()
        let (status, fresh) = try server.poll(
            reader.registration.map { "subscription=" + $0 }
                ?? ReplayDefinitions.query(reader.copies.definitions["default"] ?? .null))
        if status == 404, reader.registration == nil {
            guard reader.copies.isGone else {
                throw ClientCopy.Mismatch(description: "what is observed is gone, and it was not told")
            }
            return
        }
        guard fresh["next"]?.text == version else {
            throw ClientCopy.Mismatch(description: "\(version) is not the newest: \(fresh.serialized)")
        }
        for snapshot in fresh["snapshots"]?.elements ?? [] { try check(reader, snapshot) }
        let shown = Set((fresh["snapshots"]?.elements ?? []).compactMap { $0["sub"]?.text })
        for (name, copy) in reader.copies.copies where reader.copies.definitions[name]?["class"] != nil && !copy.isGone {
            guard shown.contains(name) || reader.copies.blind.contains(name) else {
                throw ClientCopy.Mismatch(description: "\(name) is gone, and it was not told")
            }
        }
        let name = reader.copies.definitions.keys.sorted().randomElement(using: &operations.random) ?? ""
        try ReplayWorkload.check(reader, name, "", server)
    }

    private func check(_ reader: ReplayReader, _ snapshot: ParsedJSON) throws {
        let name = snapshot["sub"]?.text ?? ""
        guard let copy = reader.copies.copies[name], !reader.copies.blind.contains(name) else { return }
        // By now another object may have the key.
        if copy.isGone, reader.registration == nil { return }
        var expected = ClientCopy()
        expected.take(snapshot: snapshot)
        guard copy == expected else {
            throw ClientCopy.Mismatch(description: "\(name): \(copy) instead of \(expected)")
        }
    }

    /// What a client has at a version that is held.
    private static func check(_ reader: ReplayReader, at version: String, _ server: ReplayServer, _ pins: Pins) throws {
        guard let id = pins.ids[version] else { return }
        for name in reader.copies.definitions.keys.sorted().prefix(3) { try check(reader, name, "&snapshot=\(id)", server) }
    }

    private static func check(_ reader: ReplayReader, _ name: String, _ suffix: String, _ server: ReplayServer) throws {
        guard let copy = reader.copies.copies[name], let definition = reader.copies.definitions[name],
            definition["class"] != nil, !copy.isGone, !reader.copies.blind.contains(name),
            // An embedded object is followed wherever it moves, a path is not.
            definition["property"]?.text?.contains("[") != true
        else { return }
        let answer = try server.send("GET", "/\(server.realm)/" + ReplayDefinitions.read(definition) + suffix)
        let json = try ParsedJSON(parsing: answer.body)
        if let difference = ReplayDefinitions.difference(copy, definition, answer.status, json) {
            throw ClientCopy.Mismatch(description: "\(name)\(suffix) is not what is read: \(difference)")
        }
    }
}
