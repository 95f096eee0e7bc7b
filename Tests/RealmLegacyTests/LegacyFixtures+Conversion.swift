// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmTestSupport

/// Fixtures as the tests of conversions use them.
extension LegacyFixtures {
    /// Names of those that are small enough to be tried thousands of times.
    static let smallNames: [String] = names.filter { ((try? bytes($0).count) ?? .max) < 20_000 }

    /// Files that have to be refused; none where the full set is not at hand.
    static let refused: [String] = {
        let inner = folder.appendingPathComponent("refused").path
        return ((try? FileManager.default.contentsOfDirectory(atPath: inner)) ?? []).sorted().map { inner + "/" + $0 }
    }()

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
        let new = try NewFile(nextTo: path)
        let report = try LegacyFile(path: path, key: key).convert(to: new)
        return try body(try Snapshot(file: try RealmFile(path: new.openPath)), report)
    }
}
