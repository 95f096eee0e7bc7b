// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport

/// A server over a data folder of its own, with API keys.
final class KeyServer: Sendable {
    let folder: String
    let server: RealmServer
    var port: Int { server.daemon.socket.port }
    var file: KeyFile { KeyFile(dataFolder: folder) }

    /// `prepare` makes keys before the server starts.
    init(
        _ prepare: (KeyFile) throws -> Void = { _ in }, change: (inout ServerOptions) -> Void = { _ in }
    ) throws {
        folder = try KeyServer.makeFolder()
        try prepare(KeyFile(dataFolder: folder))
        var options = ServerOptions.forTests()
        options.dataFolder = folder
        options.memoryRealms = ["notes", "other"]
        change(&options)
        ListedProblems.watch()
        do {
            server = try RealmServer(options)
            try server.start()
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    static func makeFolder() throws -> String {
        let folder = NSTemporaryDirectory() + "realm-rest-keys-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Adds a key and returns its text. The server knows it at once.
    func add(
        _ name: String, roles: [String] = ["admin"], realm: String? = nil, from networks: [String] = [], expires: Int64? = nil
    ) throws -> APIKeyText {
        let text = APIKeyText()
        try file.add(
            APIKey(
                text, name: name, roles: roles, realm: realm, networks: networks.compactMap { AddressRange($0) }, expires: expires
            ))
        server.state.authenticator.keys.refresh()
        return text
    }

    func request(
        _ method: String, _ target: String, _ key: APIKeyText? = nil, _ headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPClient.Answer {
        let bearer = key.map { [("Authorization", "Bearer " + $0.text)] } ?? []
        let hasType = body == nil || headers.contains { $0.0 == "Content-Type" }
        let type = hasType ? [] : [("Content-Type", "application/json")]
        return try HTTPClient.request(
            port: port, method, target, headers: bearer + headers + type, body: body.map { Array($0.utf8) })
    }

    /// A class `Note` with a primary key in the realm `notes`.
    func makeNotes(_ key: APIKeyText?) throws {
        let body =
            #"{"name":"notes","inMemory":"notes","schema":{"schemaVersion":1,"classes":[{"name":"Note","primaryKey":"id","properties":[{"name":"id","type":"int"}]}]}}"#
        _ = try request("DELETE", "/v1/realms/notes", key)
        let answer = try request("POST", "/v1/realms", key, body: body)
        guard answer.status < 300 else { throw HTTPClient.Failure(description: answer.text) }
    }
}
