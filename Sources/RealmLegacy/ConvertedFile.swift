// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A file of formats 2 to 9 as one of format 24, which was made of it or was kept from an earlier time.
///
/// The old file is only read, and no lock file is made beside it. An encrypted file becomes one that is encrypted with the same key.
package struct ConvertedFile: Sendable {
    /// The report of the conversion.
    package let report: ConversionReport
    /// The path at which the new file can be opened while this value exists. It must not be written to.
    package let path: String
    /// The new file if it has no name; its only user may write to it.
    package let file: NewFile?

    /// How often a file is converted that another program writes to meanwhile.
    private static let attempts = 5

    /// Converts a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - key: Its 64-byte key, if it is encrypted.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    ///   - control: Gets the progress, and can cancel the conversion.
    /// - Returns: The new file; nil when the old one has another format, about which other readers say more.
    /// - Throws: As `LegacyFile.init` and `LegacyFile.convert`; `.refused(.fileInUse)` when another program keeps writing to the file.
    package static func open(
        path: String, key: EncryptionKey? = nil, isExact: Bool = false, _ control: WorkControl? = nil
    ) throws(StorageError) -> ConvertedFile? {
        for _ in 0..<attempts {
            // Rows need not be counted to find a kept file.
            guard let glance = try LegacyFile.open(path: path, key: key, isExact: isExact, countsRows: false) else { return nil }
            if let kept = try kept(of: glance, key: key) { return kept }
            let facts = try System.facts(path: path)
            let old = try LegacyFile(path: path, key: key, isExact: isExact)
            do throws(StorageError) {
                return try convert(old, facts, key: key, control)
            } catch {
                // The pass may have read two versions.
                guard (try? old.file.witness?.look()) == nil else { throw error }
            }
        }
        throw .refused(.fileInUse("another program keeps writing to the file, so it cannot be converted"))
    }

    /// Returns what was made of a file earlier and is kept; nil when it would have to be converted.
    ///
    /// - Parameters:
    ///   - old: The file.
    ///   - key: Its key.
    package static func kept(of old: LegacyFile, key: EncryptionKey?) throws(StorageError) -> ConvertedFile? {
        guard let (path, report) = ConversionCache()?.find(try System.facts(path: old.file.path), key: key) else { return nil }
        return ConvertedFile(report: report, path: path, file: nil)
    }

    /// Converts a file, and keeps the new one if that is possible.
    private static func convert(
        _ old: LegacyFile, _ facts: System.FileFacts, key: EncryptionKey?, _ control: WorkControl?
    ) throws(StorageError) -> ConvertedFile {
        let cache = ConversionCache()
        let file = try NewFile(beside: cache?.newPath ?? System.temporaryFolder + "/realm-rest")
        let report = try old.convert(to: file, key: key, control)
        try old.file.witness?.look()
        if let path = cache?.keep(file, report, of: facts) { return ConvertedFile(report: report, path: path, file: nil) }
        return ConvertedFile(report: report, path: file.openPath, file: file)
    }

    /// Opens the newest version of the new file for reading. It stays readable without this value.
    ///
    /// - Parameter key: The key of the old file.
    package func snapshot(key: EncryptionKey?) throws(StorageError) -> Snapshot {
        try Snapshot(file: try RealmFile(path: path, key: key))
    }
}
