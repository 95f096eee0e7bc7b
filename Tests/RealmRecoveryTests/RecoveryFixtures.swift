// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Files whose every former state is known.
enum RecoveryFixtures {
    /// The folder with all files where they are at hand, else the few that are kept in the repository.
    private static let folder: URL = {
        let all = Fixtures.shared?.appendingPathComponent("fixtures/recovery")
        if let all, FileManager.default.fileExists(atPath: all.path) { return all }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
    }()

    /// The names of the files.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.contains(".realm") }.map { String($0.prefix { $0 != "." }) }.sorted()
    }()

    /// The bytes of a file of a fixture, which may be packed.
    static func bytes(_ name: String) throws -> [UInt8] {
        let plain = folder.appendingPathComponent(name)
        if let data = try? Data(contentsOf: plain) { return [UInt8](data) }
        return [UInt8](try Fixtures.gunzip(plain.path + ".gz"))
    }

    /// The bytes of a Realm file.
    static func realm(_ name: String) throws -> [UInt8] { try bytes("\(name).realm") }

    /// The key of an encrypted file; nil for a plain one.
    static func key(_ name: String) throws -> EncryptionKey? {
        name.contains("encrypted") ? try EncryptionKey(bytes: Fixtures.key) : nil
    }

    /// The states that a file ever had.
    static func truth(_ name: String) throws -> [ParsedJSON] {
        try bytes("\(name).truth.ndjson").split(separator: 0x0a).dropFirst().map { try ParsedJSON(parsing: Array($0)) }
    }

    /// The shares that have to be found of a file.
    static func floors(_ name: String) throws -> ParsedJSON? { try ParsedJSON(parsing: try bytes("floors.json"))[name] }
}
