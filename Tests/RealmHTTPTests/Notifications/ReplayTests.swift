// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmTestSupport
import Testing

/// Clients that only ever apply change sets, against what reading says.
@Suite("Replay of change sets under random writes (B24, B28, D4, D16, D52)")
struct ReplayTests {
    private static let isLong = ProcessInfo.processInfo.environment["REALM_REST_LONG_TESTS"] != nil

    @Test("a client that applies change sets has what a fresh read has, also when it comes back after a while, or after a restart")
    func replay() throws {
        let server = try ChangeServer()
        for seed in 0..<UInt64(ReplayTests.isLong ? 1000 : 24) {
            do {
                var workload = try ReplayWorkload(server, seed: seed)
                try workload.run(steps: 10)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}

/// One random workload over all kinds of subscriptions.
private struct ReplayWorkload {
    private static let definitions: KeyValuePairs<String, String> = [
        "plain": #"{"class":"Dog","where":"age > 3"}"#, "sorted": #"{"class":"Dog","sort":["-age","name"]}"#,
        "window": #"{"class":"Dog","where":"age >= 2","sort":["age"],"limit":4}"#,
        "distinct": #"{"class":"Dog","sort":["name"],"distinct":["age"]}"#, "linked": #"{"class":"Dog","where":"mate.age > 4"}"#,
        "pack": #"{"class":"Person","key":"ann","property":"pack"}"#, "tags": #"{"class":"Person","key":"ann","property":"tags"}"#,
        "tagsSorted": #"{"class":"Person","key":"ann","property":"tags","sort":["self"]}"#,
        "packOld": #"{"class":"Person","key":"ann","property":"pack","where":"age > 4","sort":["age"]}"#,
        "ids": #"{"class":"Person","key":"ann","property":"ids"}"#, "marks": #"{"class":"Person","key":"ann","property":"marks"}"#,
        "seats": #"{"class":"Person","key":"ann","property":"seats"}"#, "sections": #"{"class":"Dog","sectionBy":"age:floor(3)"}"#,
        "named": #"{"class":"Dog","sectionBy":"name:firstLetter","where":"age > 1"}"#,
        "staff": #"{"class":"Person","key":"ann","property":"staff"}"#, "ann": #"{"class":"Person","key":"ann","fields":["age","tags"]}"#,
    ]

    private let server: ChangeServer
    private let name: String
    private var random: SeededGenerator
    private var readers: [ReplayReader] = []

    init(_ server: ChangeServer, seed: UInt64) throws {
        self.server = server
        name = "r\(seed)"
        random = SeededGenerator(seed: seed)
        try make()
    }

    private func make() throws {
        try server.makeRealm(name, classes: ChangeFixture.classes, backlinkNames: #"{"Person":{"staff":"Person.boss"}}"#)
        let keepers = (20..<26).map { "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\($0),\"name\":\"k\",\"age\":\($0 % 9)}}}" }
        try server.batch(name, keepers + [#"{"create":{"class":"Person","body":{"_id":"ann","age":3}}}"#])
    }

    mutating func run(steps: Int) throws {
        for transport in Transport.allCases { readers.append(ReplayReader(server, name, transport)) }
        for reader in readers { try reader.begin(ReplayWorkload.body) }
        for step in 0..<steps {
            if step == steps - 2, Int.random(in: 0..<4, using: &random) == 0 {
                // Another life of the realm under the same name.
                try server.must("DELETE", name)
                try make()
                for reader in readers { try reader.reopen(ReplayWorkload.body) }
            }
            var version = ""
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                version = try server.batch(name, (0...Int.random(in: 0..<6, using: &random)).map { _ in operation() })
            }
            for reader in readers {
                if Int.random(in: 0..<4, using: &random) == 0 { reader.disconnect() }
                if Int.random(in: 0..<3, using: &random) == 0 { continue }
                try reader.catchUp(to: version)
                try check(reader, step)
            }
        }
        for reader in readers { reader.disconnect() }
        try server.must("DELETE", name)
    }

    static var body: String {
        "{\"subscriptions\":{" + definitions.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + ",\"fence\":{}}}"
    }

    /// Compares every copy with a fresh snapshot of the same definition.
    private func check(_ reader: ReplayReader, _ step: Int) throws {
        let fresh = try server.poll(name, "subscription=\(reader.registration)")
        guard fresh["next"]?.text == reader.position else { return }
        for snapshot in fresh["snapshots"]?.elements ?? [] {
            let name = snapshot["sub"]?.text ?? ""
            var expected = ClientCopy()
            expected.take(snapshot: snapshot)
            let copy = reader.copies[name] ?? ClientCopy()
            guard copy == expected else {
                throw ClientCopy.Mismatch(
                    description: "step \(step), \(reader.transport.rawValue), \(name): \(copy) instead of \(expected)")
            }
        }
    }

    // MARK: - Operations

    private mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func operation() -> String {
        switch number(16) {
        case 0, 1, 2:
            let mate = number(2) == 0 ? "" : ",\"mate\":\(dogLink())"
            return "{\"create\":{\"upsert\":\"all\",\"class\":\"Dog\",\"body\":{\"_id\":\(number(14)),\"name\":\"\(letter())\",\"age\":\(number(9))\(mate)}}}"
        case 3:
            // A dog that others link to goes, and another takes its key.
            let key = 20 + number(6)
            return "{\"delete\":{\"class\":\"Dog\",\"key\":\"\(key)\"}},"
                + "{\"create\":{\"class\":\"Dog\",\"body\":{\"_id\":\(key),\"name\":\"\(letter())\",\"age\":\(number(9))}}}"
        case 4:
            return "{\"patchWhere\":{\"class\":\"Dog\",\"where\":\"_id == \(number(14))\",\"body\":{\"age\":\(number(9))}}}"
        case 5: return "{\"deleteWhere\":{\"class\":\"Dog\",\"where\":\"_id == \(number(14))\"}}"
        case 6: return "{\"patchWhere\":{\"class\":\"Dog\",\"where\":\"age > \(number(9))\",\"body\":{\"name\":\"\(letter())\"}}}"
        case 7: return person("pack", "list", "{\"add\":\(dogLink(isNull: false))}")
        case 8: return person("pack", "list", number(3) == 0 ? #"{"clear":true}"# : "{\"insert\":[0,\(dogLink(isNull: false))]}")
        case 9: return person("tags", "list", "{\"add\":\"\(letter())\"},{\"insert\":[0,\"\(letter())\"]},{\"move\":[0,1]}")
        case 10: return person("tags", "list", "{\"add\":null},{\"swap\":[0,0]},{\"remove\":0}")
        case 11: return person("ids", "set", "{\"insert\":\(number(9))},{\"remove\":\(number(9))}")
        case 12: return person("marks", "dictionary", "{\"set\":[\"\(letter())\",\(number(9))]},{\"remove\":\"\(letter())\"}")
        case 13: return person("seats", "dictionary", "{\"set\":[\"\(letter())\",\(dogLink(isNull: false))]}")
        case 14: return "{\"create\":{\"upsert\":\"all\",\"class\":\"Person\",\"body\":{\"_id\":\"p\(number(4))\",\"age\":1,\"boss\":\(number(2) == 0 ? "null" : "\"ann\"")}}}"
        default: return "{\"patch\":{\"class\":\"Person\",\"key\":\"ann\",\"body\":{\"age\":\(number(9)),\"tags\":[\"\(letter())\",\"\(letter())\"]}}}"
        }
    }

    private mutating func letter() -> String { String("abcdef".randomElement(using: &random) ?? "a") }

    /// A link to one of the dogs that are always there, or null.
    private mutating func dogLink(isNull: Bool = true) -> String {
        isNull && number(3) == 0 ? "null" : "{\"$link\":{\"class\":\"Dog\",\"key\":\"\(20 + number(6))\"}}"
    }

    private func person(_ property: String, _ kind: String, _ ops: String) -> String {
        "{\"\(kind)\":{\"class\":\"Person\",\"key\":\"ann\",\"property\":\"\(property)\",\"ops\":[\(ops)]}}"
    }
}

/// A client with a copy for every subscription of a registration.
private final class ReplayReader {
    let transport: Transport
    private(set) var registration = ""
    private(set) var position = ""
    private(set) var copies: [String: ClientCopy] = [:]
    private let server: ChangeServer
    private let realm: String
    private var stream: EventClient?

    init(_ server: ChangeServer, _ realm: String, _ transport: Transport) {
        self.server = server
        self.realm = realm
        self.transport = transport
    }

    func begin(_ body: String) throws {
        try register(body)
        let answer = try server.poll(realm, "subscription=\(registration)")
        for snapshot in answer["snapshots"]?.elements ?? [] { copies[snapshot["sub"]?.text ?? "", default: ClientCopy()].take(snapshot: snapshot) }
        position = answer["next"]?.text ?? ""
    }

    private func register(_ body: String) throws {
        registration = try server.must("POST", "\(realm)/subscriptions", body)["id"]?.text ?? ""
    }

    /// Registers again and keeps the old position.
    func reopen(_ body: String) throws {
        stream = nil
        try register(body)
    }

    func disconnect() { stream = nil }

    func catchUp(to version: String) throws {
        if transport == .polls { try poll(to: version) } else { try read(to: version) }
    }

    private func poll(to version: String) throws {
        while position != version {
            let answer = try server.poll(realm, "subscription=\(registration)&since=\(position)")
            if let subs = answer["reset"]?["subs"]?.elements { for sub in subs { copies[sub.text ?? ""] = ClientCopy() } }
            for snapshot in answer["snapshots"]?.elements ?? [] {
                copies[snapshot["sub"]?.text ?? "", default: ClientCopy()].take(snapshot: snapshot)
            }
            for set in answer["changes"]?.elements ?? [] { try apply(set) }
            guard let next = answer["next"]?.text, next != position else { throw ClientCopy.Mismatch(description: "no progress") }
            position = next
        }
    }

    private func read(to version: String) throws {
        if position == version { return }
        if stream == nil { stream = try server.stream(realm, "subscription=\(registration)", [("Last-Event-ID", position)]) }
        while let event = try stream?.next() {
            switch event.name {
            case "reset": for sub in event.json["subs"]?.elements ?? [] { copies[sub.text ?? ""] = ClientCopy() }
            case "snapshot": copies[event.json["sub"]?.text ?? "", default: ClientCopy()].take(snapshot: event.json)
            case "changes": try apply(event.json)
            case "end", "error": throw ClientCopy.Mismatch(description: "\(event.name): \(event.data)")
            default: break
            }
            if let id = event.id { position = id }
            if position == version { return }
        }
        throw ClientCopy.Mismatch(description: "the stream ended before \(version)")
    }

    private func apply(_ set: JSONValue) throws {
        let name = set["sub"]?.text ?? ""
        guard name != "fence" else { return }
        do {
            try copies[name, default: ClientCopy()].apply(set)
        } catch {
            throw ClientCopy.Mismatch(description: "\(name): \(error)")
        }
    }
}
