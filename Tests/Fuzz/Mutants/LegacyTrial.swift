// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import RealmLegacy
import RealmPlatform
internal import RealmStorage
import RealmVerify

/// One damaged file of formats 2 to 9: it is checked, converted, and the copy is checked as a whole.
package enum LegacyTrial {
    /// Runs one trial; a file that is opened and converted has to become a sound one.
    ///
    /// - Parameters:
    ///   - bytes: The damaged file.
    ///   - folder: Where it is written to.
    package static func run(_ bytes: [UInt8], folder: String) throws -> MutantTrial.Outcome {
        var outcome = MutantTrial.Outcome()
        let path = folder + "/legacy-\(UUID().uuidString).realm"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        do throws(StorageError) {
            if let file = try? RealmFile(path: path, accepting: FileHeader.knownFormats),
                try SizeReport(measuring: file).parts.total != UInt64(bytes.count)
            {
                outcome.faults.append("the sizes of its parts do not add up")
            }
            guard let file = try LegacyFile.open(path: path) else { return outcome }
            outcome.isOpened = true
            outcome.reads += 1
            _ = try file.verify()
            let new = try NewFile(nextTo: path)
            outcome.writes += 1
            _ = try file.convert(to: new)
            outcome.successfulWrites += 1
            let errors = try Snapshot(file: try RealmFile(path: new.openPath)).verify().errors
            outcome.faults += errors.map { "the copy is damaged: \($0)" }
        } catch {
            // An error with its place is what damage has to lead to.
        }
        return outcome
    }
}
