// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// The command `realm-rest keys`, beside a running server and without one.
@Suite(.enabled(if: ServerProcess.executable != nil, "the executable is not built"))
struct KeysCommandTests {
    private func run(_ arguments: [String], in folder: String? = nil) throws -> (status: Int32, output: String, error: String) {
        let process = Process()
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: try #require(ServerProcess.executable))
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        (process.standardOutput, process.standardError) = (output, error)
        try process.run()
        process.waitUntilExit()
        let text = { (pipe: Pipe) in String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        return (process.terminationStatus, text(output), text(error))
    }

    private func key(_ output: String) throws -> APIKeyText {
        #expect(output.hasSuffix("\n"))
        guard case .key(let key) = APIKeyText.read(Array(output.dropLast().utf8)) else {
            throw HTTPClient.Failure(description: output)
        }
        return key
    }

    @Test func `keys are made, listed, replaced and revoked beside a running server`() throws {
        let server = try KeyServer()
        let place = ["--data", server.folder]
        let added = try run(
            ["keys", "add", "ann", "--role", "admin", "--role", "read", "--expires", "90d", "--claim", "team=a=b"] + place)
        #expect(added.status == 0 && added.error.isEmpty)
        let first = try key(added.output)
        #expect(try eventually { try server.request("GET", "/v1/realms", first).status == 200 })
        #expect(try server.file.read()?.first?.claims["team"] == .string("a=b"))
        let list = try run(["keys", "list"] + place).output
        #expect(list.contains("\(first.id)\tann\tadmin,read\t-\t-\t") && !list.contains(first.text))
        let second = try key(try run(["keys", "rotate", first.id] + place).output)
        #expect(try eventually { try server.request("GET", "/v1/realms", second).status == 200 })
        // While the test waited it may have failed too often.
        #expect([401, 429].contains(try server.request("GET", "/v1/realms", first).status))
        let revoked = try run(["keys", "revoke", first.id, "--confirm", "no-administrator"] + place)
        #expect(revoked.status == 0 && revoked.output.isEmpty)
        #expect(try eventually { try server.request("GET", "/v1/realms", second).status != 200 })
        let again = try run(["keys", "revoke", first.id] + place)
        #expect(again.status == 1 && again.error.contains(first.id))
    }

    @Test func `the folder is that of the configuration`() throws {
        let folder = try KeyServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try FileManager.default.createDirectory(atPath: folder + "/data", withIntermediateDirectories: true)
        #expect(try run(["keys", "list"], in: folder).status == 1)
        try Data("data: data\n".utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        _ = try key(try run(["keys", "add", "a", "--role", "admin"], in: folder).output)
        _ = try key(try run(["keys", "add", "b", "--role", "admin", "--config", folder + "/realm-rest.yaml"]).output)
        #expect(try KeyFile(dataFolder: folder + "/data").read()?.map(\.name) == ["a", "b"])
        try Data("memory: [x]\n".utf8).write(to: URL(fileURLWithPath: folder + "/realm-rest.yaml"))
        #expect(try run(["keys", "list"], in: folder).error.contains("data"))
    }

    @Test(arguments: [
        ["a"], ["", "--role", "admin"], ["a", "--role", "a b"], ["a", "--role", "x", "--expires", "soon"],
        ["a", "--role", "x", "--from", "10.0.0.0/99"], ["a", "--role", "x", "--claim", "team"],
        ["a", "--role", "x", "--claim", "t=1", "--claim", "t=2"], ["a", "--role", "x", "--realm", "../x"],
    ])
    func `a wrong option makes no key`(_ options: [String]) throws {
        let folder = try KeyServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try run(["keys", "add"] + options + ["--data", folder])
        #expect(result.status != 0 && result.output.isEmpty && !result.error.isEmpty)
        #expect(!KeyFile(dataFolder: folder).exists)
    }

    @Test func `processes that add keys at the same time lose none`() async throws {
        let folder = try KeyServer.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<6 {
                group.addTask { _ = try run(["keys", "add", "k\(index)", "--role", "admin", "--data", folder]) }
            }
            try await group.waitForAll()
        }
        #expect(try KeyFile(dataFolder: folder).read()?.count == 6)
    }
}
