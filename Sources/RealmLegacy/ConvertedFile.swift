// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// The result of a conversion: a file of formats 2 to 9 as one of format 24, made now or found in the cache.
///
/// The old file is only read, and no lock file is created next to it. An encrypted file becomes one that is encrypted with the same key.
package struct ConvertedFile: Sendable {
    /// The report of the conversion.
    package let report: ConversionReport
    /// The new file if the cache does not have it; the caller may write to it.
    package let file: NewFile?
    /// Keeps a file of the cache open.
    private let cached: OpenFile?

    /// How often a file is converted that another program writes to meanwhile.
    private static let attempts = 5

    /// The path at which the new file can be opened while this value exists. Only `file` may be written to.
    package var path: String { cached?.path ?? file?.openPath ?? "" }

    /// Converts a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - key: Its 64-byte key, if it is encrypted.
    ///   - isExact: Whether the path was resolved before, so that no symbolic link is followed.
    ///   - base: The folder for caches; nil for that of the user.
    ///   - control: Gets the progress, and can cancel the conversion.
    /// - Returns: The new file; nil when the old one has another format, about which other readers say more.
    /// - Throws: As `LegacyFile.init` and `LegacyFile.convert`; `.refused(.fileInUse)` when another program keeps writing to the file.
    package static func open(
        path: String, key: EncryptionKey? = nil, isExact: Bool = false, cachedIn base: String? = nil,
        _ control: WorkControl? = nil
    ) throws(StorageError) -> ConvertedFile? {
        for _ in 0..<attempts {
            // Rows need not be counted to find a file in the cache.
            guard let glance = try LegacyFile.open(path: path, key: key, isExact: isExact, countsRows: false) else { return nil }
            let facts = try System.facts(path: path)
            let cache = ConversionCache(in: base)
            if let kept = kept(of: glance, facts, in: cache) { return kept }
            do throws(StorageError) {
                return try convert(try LegacyFile(glance.file, countsRows: true), facts, key: key, in: cache, control)
            } catch {
                if case .stopped = error { throw error }
                // The pass may have read two versions.
                guard (try? glance.file.witness?.look()) == nil else { throw error }
            }
        }
        throw .refused(.fileInUse("another program keeps writing to the file, so it cannot be converted"))
    }

    /// Returns the result of an earlier conversion; nil when the cache does not have it.
    package static func kept(of old: LegacyFile) throws(StorageError) -> ConvertedFile? {
        kept(of: old, try System.facts(path: old.file.path), in: ConversionCache(in: nil))
    }

    /// Returns the result of an earlier conversion of an open file.
    ///
    /// - Parameter facts: The state of the file at its path. It need not be the open one, if the path has changed since.
    private static func kept(of old: LegacyFile, _ facts: System.FileFacts, in cache: ConversionCache?) -> ConvertedFile? {
        guard old.file.witness?.identity == facts.identity, let (file, report) = cache?.find(facts) else {
            return nil
        }
        return ConvertedFile(report: report, file: nil, cached: file)
    }

    /// Converts a file, and keeps the new one if that is possible.
    private static func convert(
        _ old: LegacyFile, _ facts: System.FileFacts, key: EncryptionKey?, in cache: ConversionCache?, _ control: WorkControl?
    ) throws(StorageError) -> ConvertedFile {
        if let cache, let file = cache.newFile(for: facts, byteCount: old.file.plainByteCount) {
            do throws(StorageError) {
                let report = try old.convert(to: file, key: key, control)
                // The name in the cache is that of the state before, and the file is that of the state after.
                if (try? System.facts(path: old.file.path)) == facts, cache.keep(file, report, of: facts),
                    let descriptor = try? System.duplicate(file.descriptor)
                {
                    return ConvertedFile(report: report, file: nil, cached: OpenFile(descriptor))
                }
                return ConvertedFile(report: report, file: file, cached: nil)
            } catch {
                // There may be room elsewhere.
                guard error.isFullDisk else { throw error }
            }
        }
        let file = try NewFile(beside: System.temporaryFolder + "/realm-rest")
        return ConvertedFile(report: try old.convert(to: file, key: key, control), file: file, cached: nil)
    }

    /// Opens the newest version of the new file for reading. It stays readable without this value.
    ///
    /// - Parameter key: The key of the old file.
    package func snapshot(key: EncryptionKey?) throws(StorageError) -> Snapshot {
        try Snapshot(file: try RealmFile(path: path, key: key))
    }
}
