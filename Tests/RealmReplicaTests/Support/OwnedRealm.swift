// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport

@testable import RealmReplica
import RealmVerify

/// A realm with dogs whose commits happen in a log, on one of several nodes.
final class OwnedRealm {
    let name: RealmName
    let path: String
    private let folder: TemporaryRealm
    private let log: any RealmLog
    private(set) var logged: LoggedRealm
    private(set) var realm: EngineRealm
    private let limits: RealmOwner.Limits
    private let grace: Double
    private let key: EncryptionKey?

    static let dog = ClassInput(
        "Dog", primaryKey: "id",
        [
            PropertyInput("id", "int"), PropertyInput("name", "string", indexed: "general"),
            PropertyInput("photo", "data", optional: true),
        ])

    init(
        _ name: String, _ log: any RealmLog, node: String = "n1", limits: RealmOwner.Limits = RealmOwner.Limits(),
        grace: Double = 2,
        key: EncryptionKey? = nil
    ) throws {
        self.name = RealmName(name)!
        self.log = log
        self.limits = limits
        self.grace = grace
        self.key = key
        folder = try TemporaryRealm()
        path = folder.path
        logged = try OwnedRealm.open(self.name, path, log, node, limits, grace, key)
        realm = EngineRealm(logged.database)
        if realm.count("Dog") < 0 {
            try realm.write { session in try session.createSchema(SchemaInput(classes: [OwnedRealm.dog])) }
        }
    }

    private static func open(
        _ name: RealmName, _ path: String, _ log: any RealmLog, _ node: String, _ limits: RealmOwner.Limits, _ grace: Double,
        _ key: EncryptionKey?
    ) throws -> LoggedRealm {
        var options = Database.OpenOptions(key: key)
        options.createsMissingFile = true
        var opening = LoggedRealm.Opening(name, path: path, node: node, options)
        opening.limits = limits
        opening.reuseGraceSeconds = grace
        return try LoggedRealm.open(opening, log)
    }

    var snapshot: Snapshot { logged.database.current.snapshot }
    var head: LogHead {
        get throws {
            let call = LogCall(realm: name.text, owner: .unowned, request: .head)
            guard case .head(let head?) = log.perform(call, until: .now().adding(seconds: 10)) else {
                throw PostgresServer.Failure(description: "no head")
            }
            return head
        }
    }

    func add(_ ids: ClosedRange<Int64>, photo: [UInt8] = []) throws {
        for id in ids {
            try realm.write { session in
                _ = try session.create(
                    "Dog",
                    ["id": .integer(id), "name": .text("Rex \(id)"), "photo": photo.isEmpty ? .null : .typed(.binary(photo))])
            }
        }
    }

    /// The error of storage that a write ends with.
    func failure(adding id: Int64) -> StorageError? {
        let error = realm.failure { session in _ = try session.create("Dog", ["id": .integer(id), "name": .text("Rex \(id)")]) }
        guard case .storage(let cause)? = error?.cause else { return nil }
        return cause
    }

    func has(_ id: Int64) throws -> Bool { try realm.show("Dog", id) != nil }

    /// Closes the realm without a word to the log, as a crash would, and verifies it.
    func crash() throws { try realm.finish() }

    /// Opens the realm again.
    func reopen(node: String = "n1", by log: (any RealmLog)? = nil) throws {
        logged = try OwnedRealm.open(name, path, log ?? self.log, node, limits, grace, key)
        realm = EngineRealm(logged.database)
    }

    /// Opens the realm again while somebody reads the present opening.
    func reopenInPlace() throws {
        var opening = LoggedRealm.Opening(name, path: path, node: "n1", Database.OpenOptions(key: key))
        opening.limits = limits
        logged = try logged.reopen(opening)
        realm = EngineRealm(logged.database)
    }

    func finish() throws {
        let snapshot = snapshot
        logged.close()
        let report = snapshot.verify()
        guard report.isClean else { throw EngineRealm.Damaged(errors: report.errors) }
    }
}
