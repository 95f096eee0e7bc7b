// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
@testable import RealmBackups
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Backups that the server makes by itself.
@Suite struct PlannedBackupTests {
    /// Runs a closure with a server that backs up every second to a folder in `parent`.
    private func withPlan(
        _ parent: String, _ change: (inout ServerOptions) -> Void = { _ in }, _ body: (WriteServer) throws -> Void
    ) throws {
        defer { try? FileManager.default.removeItem(atPath: parent) }
        try withWriteServer(change: { options in
            change(&options)
            var plan = BackupPlan(every: .seconds(1), to: FolderBackupStore(parent + "/backups"))
            plan.retention = BackupRetention("monthly=1")
            options.backupPlan = plan
        }) { try body($0) }
    }

    private func newParent() -> String { NSTemporaryDirectory() + "realm-rest-plan-\(UUID().uuidString)" }

    private func planned(_ server: WriteServer) throws -> [ParsedJSON] {
        try server.get("app/backups").json["items"]?.elements?.filter { $0["kind"]?.text == "planned" } ?? []
    }

    @Test func `A18: realms that have changed are backed up by a plan, listed, read and deleted`() throws {
        let parent = newParent()
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try withPlan(parent) { server in
            let version = WriteServer.number(try server.get("app/schema")["Realm-Version"])
            #expect(try eventually(seconds: 20) { try planned(server).contains { $0["version"]?.int == version } })
            #expect(try eventually(seconds: 20) { try server.get("app/backups").json["state"]?.text == "ok" })
            let list = try server.get("app/backups").json
            #expect(list["lastError"] == nil && list["lastSuccess"]?.text != nil)
            let id = try #require(try planned(server).first?["id"]?.text)
            let one = try server.get("app/backups/\(id)")
            #expect(one.status == 200 && one.json["version"]?.int == version, "\(one.text)")
            let path = server.folder + "/read.tmp"
            let file = try server.get("app/backups/\(id)", [("Accept", "application/octet-stream")])
            try Data(file.body).write(to: URL(fileURLWithPath: path))
            #expect(try RealmEngineReader.age(path) == 3)
            // Nothing is copied again while nothing changes: one a month is kept, so its name would be another one.
            sleep(3)
            #expect(try planned(server).compactMap { $0["id"]?.text } == [id])
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            #expect(try eventually(seconds: 20) { try planned(server).contains { ($0["version"]?.int ?? 0) > version } })
            #expect(try eventually(seconds: 20) { try server.get("app/backups/\(id)").code == "not_found" })
            let new = try #require(try planned(server).first?["id"]?.text)
            #expect(try server.send("DELETE", "app/backups/\(new)").status == 204)
            #expect(try planned(server).isEmpty)
        }
    }

    @Test(arguments: ["spool-files=0", "spool-bytes=1000"])
    func `a planned backup that is read needs room among the temporary files, and gives it back`(_ limit: String) throws {
        var limits = Limits()
        try limits.apply(limit)
        for (limits, isRefused) in [(limits, true), (Limits(), false)] {
            let parent = newParent()
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try withPlan(parent, { $0.limits = limits }) { server in
                #expect(try eventually(seconds: 20) { try server.get("app/backups").json["state"]?.text == "ok" })
                let id = try #require(try planned(server).first?["id"]?.text)
                // Its description needs no file.
                let digest = try #require(try server.get("app/backups/\(id)").json["sha256"]?.text)
                let file = try server.get("app/backups/\(id)", [("Accept", "application/octet-stream")])
                let restored = try server.send("POST", "app/restore", #"{"backup":"\#(id)"}"#)
                if isRefused {
                    #expect(file.code == "overloaded" && file["Retry-After"] != nil, "\(file.text)")
                    #expect(restored.code == "overloaded", "\(restored.text)")
                } else {
                    #expect(file.status == 200 && file["Repr-Digest"] == "sha-256=:\(digest):")
                    #expect(restored.status == 200, "\(restored.text)")
                }
                #expect(
                    try eventually(seconds: 20) {
                        let metrics = try HTTPClient.request(port: server.port, "GET", "/metrics").text
                        return metrics.contains("realm_rest_spool_files 0\n") && metrics.contains("realm_rest_spool_bytes 0\n")
                    })
            }
        }
    }

    @Test func `a backup that fails is counted and shown, writes go on, and the next round succeeds`() throws {
        let parent = newParent()
        try withPlan(parent) { server in
            #expect(try eventually(seconds: 20) { try server.get("app/backups").json["state"]?.text == "failed" })
            #expect(try server.get("app/backups").json["lastError"]?.text?.contains("mkdir") == true)
            let metrics = try HTTPClient.request(port: server.port, "GET", "/metrics").text
            #expect(metrics.contains("\nrealm_rest_backup_failures_total "))
            #expect(!metrics.contains("\nrealm_rest_backup_failures_total 0"))
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":4}"#)
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            #expect(try eventually(seconds: 20) { try server.get("app/backups").json["state"]?.text == "ok" })
            #expect(try server.get("app/backups").json["lastError"] == nil)
            let id = try #require(try planned(server).first?["id"]?.text)
            try server.done("PATCH", "app/objects/Dog/1", #"{"age":9}"#)
            let answer = try server.send("POST", "app/restore", #"{"backup":"\#(id)"}"#)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try server.get("app/objects/Dog/1?meta=none&fields=age").json["age"]?.int == 4)
        }
    }
}
