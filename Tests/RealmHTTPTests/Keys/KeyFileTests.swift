// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The file of keys: who may read it, who writes it at the same time, and what becomes of a broken one.
@Suite final class KeyFileTests: Sendable {
    private let folder: String
    private var file: KeyFile { KeyFile(dataFolder: folder) }

    init() throws { folder = try KeyServer.makeFolder() }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func key(_ name: String, _ text: APIKeyText = APIKeyText()) -> APIKey { APIKey(text, name: name, roles: ["admin"]) }

    @Test func `it is for its owner alone, and has no secret`() throws {
        let text = APIKeyText()
        try file.add(
            APIKey(
                text, name: "a \"b\" ü", roles: ["x", "y"], realm: "r", claims: JSONObject([("team", .string("t"))]),
                networks: [try #require(AddressRange("10.0.0.0/8"))], expires: 4_000_000_000))
        #expect(NodeStatus(at: file.path)?.permissions == 0o600)
        let stored = String(decoding: try Data(contentsOf: URL(fileURLWithPath: file.path)), as: UTF8.self)
        #expect(!stored.contains(text.text.dropFirst(12)) && stored.contains(FileDigest.hex(text.digest)))
        let read = try #require(try file.read()?.first)
        #expect(read.name == "a \"b\" ü" && read.roles == ["x", "y"] && read.realm == "r" && read.expires == 4_000_000_000)
        #expect(read.claims["team"] == .string("t") && read.networks.map(\.text) == ["10.0.0.0/8"] && read.lastUsed == nil)
    }

    @Test func `many writers lose nothing`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 { group.addTask { [self] in try file.add(key("k\(index)")) } }
            try await group.waitForAll()
        }
        #expect(Set(try #require(try file.read()).map(\.name)).count == 40)
    }

    @Test func `what a writer left that ended in the middle does no harm`() throws {
        try file.add(key("kept"))
        // It had made its new file under the temporary name, and ended before that took the name of the old one.
        let inside = folder + "/.realm-rest/"
        for name in try FileManager.default.contentsOfDirectory(atPath: inside) { #expect(!name.hasSuffix(".part"), "\(name)") }
        try Data("{\"keys\":[".utf8).write(to: URL(fileURLWithPath: inside + ".realm-rest-1.part"))
        #expect(try file.read()?.map(\.name) == ["kept"])
        try file.add(key("next"))
        #expect(try file.read()?.map(\.name) == ["kept", "next"])
    }

    @Test func `an unknown id changes nothing`() throws {
        try file.add(key("kept"))
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        #expect(throws: KeyFile.Failure.self) { try file.revoke("abcdefgh") }
        #expect(throws: KeyFile.Failure.self) { _ = try file.rotate("abcdefgh") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
    }

    static let broken = [
        "", "{", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[1]}"#, #"{"keys":[{"id":"abcdefgh"}]}"#, "\u{0}",
        // A network that cannot be read must not become none.
        #"{"keys":[{"id":"abcdefgh","name":"n","sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","roles":[],"created":1,"from":["10.0.0.0/99"]}]}"#,
        #"{"keys":[{"id":"abcdefgh","name":"n","sha256":"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb","roles":[],"created":1,"expires":"never"}]}"#,
        #"{"keys":[{"id":"abcdefgh","name":"n","sha256":"ca97","roles":[],"created":1}]}"#,
    ]

    @Test(arguments: broken)
    func `a broken file refuses every key, is not replaced, and is followed when it is repaired`(_ text: String) throws {
        let good = APIKeyText()
        try file.add(key("good", good))
        let whole = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let store = KeyStore(file)
        let principal = try #require(store.principal(of: good, from: "127.0.0.1"))
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
        #expect(store.refresh() != nil)
        #expect(store.isConfigured && store.failure != nil && store.count == 0 && principal.isOver)
        #expect(store.principal(of: good, from: "127.0.0.1") == nil)
        #expect(throws: KeyFile.Failure.self) { try file.add(key("more")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == Data(text.utf8))
        try whole.write(to: URL(fileURLWithPath: file.path))
        #expect(store.refresh() == nil)
        #expect(store.failure == nil && store.principal(of: good, from: "127.0.0.1") != nil)
        // The same key is another principal: what was ended stays ended.
        #expect(principal.isOver)
    }

    @Test func `a removed file refuses every key, and is no licence`() throws {
        let good = APIKeyText()
        try file.add(key("good", good))
        let store = KeyStore(file)
        try FileManager.default.removeItem(atPath: file.path)
        store.refresh()
        #expect(store.isConfigured && store.count == 0 && store.principal(of: good, from: "") == nil)
        #expect(!KeyStore(file).isConfigured)
    }

    @Test func `only what changed ends`() throws {
        let texts = [APIKeyText(), APIKeyText(), APIKeyText()]
        for (index, text) in texts.enumerated() { try file.add(key("k\(index)", text)) }
        let store = KeyStore(file)
        let principals = try texts.map { try #require(store.principal(of: $0, from: "")) }
        try file.revoke(texts[0].id)
        let rotated = try file.rotate(texts[1].id).text
        store.refresh()
        #expect(principals.map(\.isOver) == [true, true, false])
        #expect(store.principal(of: texts[0], from: "") == nil && store.principal(of: texts[1], from: "") == nil)
        let renewed = try #require(store.principal(of: rotated, from: ""))
        #expect(renewed.owner == principals[1].owner && renewed.id == texts[1].id)
        #expect(store.principal(of: texts[2], from: "") === principals[2])
    }

    @Test func `a key is good until it expires, and from its networks`() throws {
        let (late, early, near) = (APIKeyText(), APIKeyText(), APIKeyText())
        try file.add(APIKey(late, name: "late", roles: [], expires: APIKey.now - 1))
        try file.add(APIKey(early, name: "early", roles: [], expires: APIKey.now + 3600))
        let networks = try ["10.0.0.0/8", "fe80::/10"].map { try #require(AddressRange($0)) }
        try file.add(APIKey(near, name: "near", roles: [], networks: networks))
        let store = KeyStore(file)
        #expect(store.principal(of: late, from: "") == nil && store.principal(of: early, from: "") != nil)
        for address in ["10.1.1.1", "::ffff:10.1.1.1", "fe80::1", "fe80::1%eth0"] {
            #expect(store.principal(of: near, from: address) != nil, "\(address)")
        }
        for address in ["", "11.1.1.1", "::1", "nonsense"] { #expect(store.principal(of: near, from: address) == nil) }
    }

    @Test func `the last use is kept to the minute, and is no change of the key`() throws {
        let text = APIKeyText()
        try file.add(key("used", text))
        let store = KeyStore(file)
        let principal = try #require(store.principal(of: text, from: ""))
        #expect(try file.read()?.first?.lastUsed == nil)
        store.storeUses()
        let used = try #require(try file.read()?.first?.lastUsed)
        #expect(used % 60 == 0 && abs(used - APIKey.now) <= 120)
        store.refresh()
        #expect(store.principal(of: text, from: "") === principal && !principal.isOver)
    }

    /// An id that nobody has must not be answered sooner than one that somebody has: both are digested and compared.
    @Test func `an unknown id takes as long as a wrong secret`() throws {
        let text = APIKeyText()
        try file.add(key("known", text))
        let store = KeyStore(file)
        let wrong = APIKeyText(id: text.id)
        let unknown = APIKeyText()
        func seconds(_ key: APIKeyText) -> Double {
            let begin = RealmPlatform.Instant.now()
            for _ in 0..<2000 { #expect(store.principal(of: key, from: "") == nil) }
            return RealmPlatform.Instant.now().seconds(since: begin)
        }
        let ratios = (0..<9).map { _ in seconds(wrong) / seconds(unknown) }.sorted()
        #expect((0.5...2).contains(ratios[4]), "\(ratios)")
    }
}
