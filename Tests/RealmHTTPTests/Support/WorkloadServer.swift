// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify

/// A server over a folder of its own that is stopped and started again with what it left.
final class WorkloadServer {
    let folder: String
    private var server: RealmServer?
    private let keys: [ByteText: EncryptionKey]

    /// Realms in `encrypted` have the key of the fixtures.
    init(encrypted: [String] = []) throws {
        folder = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString)"
        let key = try EncryptionKey(bytes: Fixtures.key)
        keys = Dictionary(texts: encrypted.map { ($0, key) }) { first, _ in first }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        server?.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The port.
    func start() throws -> Int {
        var options = ServerOptions.forTests()
        options.graceSeconds = 30
        options.dataFolder = folder
        options.keys = keys
        let server = try RealmServer(options)
        try server.start()
        self.server = server
        return server.daemon.socket.port
    }

    func stop() {
        server?.stop()
        server = nil
    }

    /// What verification says of the newest version of a realm that is served.
    func liveProblems(_ realm: String) -> [String] {
        guard let server, case .ready(let database)? = server.state.catalog[realm] else {
            return ["\(realm) is not served"]
        }
        return database.current.snapshot.verify().errors
    }

    func path(_ realm: String) -> String { folder + "/" + realm + ".realm" }

    /// What verification says of a realm while nobody serves it; with `excused` errors left out.
    func problems(_ realm: String, excused: [String] = []) throws -> [String] {
        let snapshot = try Snapshot(file: try RealmFile(path: path(realm), key: keys[realm]))
        let report = snapshot.verify()
        var problems = report.errors.filter { !excused.contains($0) }
        if problems.isEmpty, excused.isEmpty, keys[realm] == nil, let error = FileInspector.shared?.errors(path(realm)) {
            problems.append("inspector: " + error)
        }
        return problems
    }

    /// Leaves a copy of a realm for other programs if the run keeps files.
    func keep(_ realm: String, as name: String) throws {
        guard let kept = TestRun.keptFiles else { return }
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
        let target = kept + "/" + name + ".realm"
        try? FileManager.default.removeItem(atPath: target)
        try FileManager.default.copyItem(atPath: path(realm), toPath: target)
    }
}
