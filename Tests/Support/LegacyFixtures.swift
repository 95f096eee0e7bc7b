// SPDX-License-Identifier: Apache-2.0

package import Foundation
import RealmPlatform
package import RealmStorage

/// Files of formats 2 to 9 written by old engines, with the contents that their converted copies must show.
package enum LegacyFixtures {
    /// The folder with all of them where they are at hand, else the few that are kept in the repository.
    package static let folder: URL =
        Fixtures.shared?.appendingPathComponent("fixtures/legacy")
        ?? Fixtures.packageRoot.appendingPathComponent("Tests/RealmLegacyTests/Golden")

    /// Names of the fixtures of formats 2 to 9, without extension.
    package static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.compactMap { file in
            guard let end = file.range(of: ".realm")?.lowerBound, let format = Int(file.dropFirst().prefix { $0 != "-" }) else {
                return nil
            }
            return (2...9).contains(format) ? String(file[..<end]) : nil
        }.sorted()
    }()

    /// Other keys than bytes 0 to 63.
    private static let keys: ParsedJSON? = {
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("keys.json")) else { return nil }
        return try? ParsedJSON(parsing: [UInt8](data))
    }()

    /// The key of an encrypted fixture as hex digits; nil for a plain one.
    package static func keyText(_ name: String) -> String? {
        guard name.contains("encrypted") else { return nil }
        return keys?[name]?.text ?? Fixtures.key.map { String(format: "%02x", $0) }.joined()
    }

    /// The key of an encrypted fixture; nil for a plain one.
    package static func key(_ name: String) throws -> EncryptionKey? {
        try keyText(name).map { try EncryptionKey(text: $0) }
    }

    /// The bytes of a fixture.
    package static func bytes(_ name: String) throws -> [UInt8] {
        let plain = folder.appendingPathComponent("\(name).realm")
        if let data = try? Data(contentsOf: plain) { return [UInt8](data) }
        return [UInt8](try Fixtures.gunzip(plain.path + ".gz"))
    }

    /// What the converted copy of a fixture must show.
    package static func dump(_ name: String) throws -> ParsedJSON {
        let plain = folder.appendingPathComponent("\(name).expected.json")
        if let data = try? Data(contentsOf: plain) { return try ParsedJSON(parsing: [UInt8](data)) }
        return try ParsedJSON(parsing: [UInt8](try Fixtures.gunzip(plain.path + ".gz")))
    }
}
