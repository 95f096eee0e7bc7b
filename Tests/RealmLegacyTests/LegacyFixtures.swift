// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmLegacy
import RealmStorage
import RealmTestSupport

/// Files of formats 2 to 9 written by old engines, with the contents that their converted copies must show.
enum LegacyFixtures {
    /// The folder with all of them where they are at hand, else the few that are kept in the repository.
    static let folder: URL =
        Fixtures.shared?.appendingPathComponent("fixtures/legacy")
        ?? Fixtures.packageRoot.appendingPathComponent("Tests/RealmLegacyTests/Golden")

    /// Names of the fixtures of formats 2 to 9, without extension.
    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.compactMap { file in
            guard let end = file.range(of: ".realm")?.lowerBound, let format = Int(file.dropFirst().prefix { $0 != "-" }) else {
                return nil
            }
            return (2...9).contains(format) ? String(file[..<end]) : nil
        }.sorted()
    }()

    /// Names of those that are small enough to be tried thousands of times.
    static let smallNames: [String] = names.filter { ((try? bytes($0).count) ?? .max) < 20_000 }

    /// Files that have to be refused; none where the full set is not at hand.
    static let refused: [String] = {
        let inner = folder.appendingPathComponent("refused").path
        return ((try? FileManager.default.contentsOfDirectory(atPath: inner)) ?? []).sorted().map { inner + "/" + $0 }
    }()

    /// Other keys than bytes 0 to 63.
    private static let keys: ParsedJSON? = {
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("keys.json")) else { return nil }
        return try? ParsedJSON(parsing: [UInt8](data))
    }()

    /// The key of an encrypted fixture; nil for a plain one.
    static func key(_ name: String) throws -> EncryptionKey? {
        guard name.contains("encrypted") else { return nil }
        guard let text = keys?[name]?.text else { return try EncryptionKey(bytes: Fixtures.key) }
        return try EncryptionKey(text: text)
    }

    /// The bytes of a fixture.
    static func bytes(_ name: String) throws -> [UInt8] {
        let plain = folder.appendingPathComponent("\(name).realm")
        if let data = try? Data(contentsOf: plain) { return [UInt8](data) }
        return [UInt8](try Fixtures.gunzip(plain.path + ".gz"))
    }

    /// What the converted copy of a fixture must show.
    static func dump(_ name: String) throws -> ParsedJSON {
        let plain = folder.appendingPathComponent("\(name).expected.json")
        if let data = try? Data(contentsOf: plain) { return try ParsedJSON(parsing: [UInt8](data)) }
        return try ParsedJSON(parsing: [UInt8](try Fixtures.gunzip(plain.path + ".gz")))
    }

    /// Calls a closure with the path of a file of some bytes.
    static func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let path = NSTemporaryDirectory() + "legacy-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return try body(path)
    }

    /// Converts a file, and calls a closure with the newest version of the copy.
    static func converting<Result>(
        _ path: String, key: EncryptionKey?, _ body: (Snapshot, ConversionReport) throws -> Result
    ) throws -> Result {
        let new = try NewFile(beside: path)
        let report = try LegacyFile(path: path, key: key).convert(to: new)
        return try body(try Snapshot(file: try RealmFile(path: new.openPath)), report)
    }
}
