// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The result of a conversion: a file of formats 2 to 9 as one of format 24, made now or found in the cache.
///
/// The old file is only read, and no lock file is created next to it. An encrypted file becomes one that is encrypted with the same key.
package struct ConvertedFile: Sendable {
    package let report: ConversionReport
    private let place: Place
    /// The newest version of a file that was found in the cache; nil for all others.
    private let known: Snapshot?

    /// The places that a new file can have.
    private enum Place {
        /// The cache, whose files are only read.
        case kept(OpenFile)
        /// A file without a name, which belongs to this value.
        case own(NewFile)
    }

    /// The number of attempts to convert a file while another program writes to it.
    private static let attempts = 5

    /// Makes the result of a conversion.
    private init(_ report: ConversionReport, _ place: Place, known: Snapshot? = nil) {
        self.report = report
        self.place = place
        self.known = known
    }

    /// The new file if the cache does not have it; the caller may write to it.
    package var file: NewFile? {
        switch place {
        case .kept: nil
        case .own(let file): file
        }
    }

    /// The path at which the new file can be opened while this value exists. Only `file` may be written to.
    package var path: String {
        switch place {
        case .kept(let file): file.path
        case .own(let file): file.openPath
        }
    }

    /// Converts a file.
    ///
    /// - Parameters:
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
            let original = try ConversionCache.Original(glance)
            let cache = ConversionCache(in: base)
            if let kept = try kept(of: glance, original, key: key, in: cache, control) {
                cache?.noteUse(of: original)
                return kept
            }
            do throws(StorageError) {
                return try convert(try LegacyFile(glance.file, countsRows: true), original, key: key, in: cache, control)
            } catch {
                if error.isStop { throw error }
                // The pass may have read two versions.
                guard (try? glance.file.witness?.checkFile()) == nil else { throw error }
            }
        }
        throw .refused(.fileInUse("another program keeps writing to the file, so it cannot be converted"))
    }

    /// Returns the newest version of the result of an earlier conversion; nil when the cache does not have it.
    ///
    /// It is for a glance at the classes: the bytes are not checked, and the look does not count as a use of the file.
    ///
    /// - Parameters:
    ///   - base: The folder for caches; nil for that of the user.
    package static func keptSnapshot(
        of old: LegacyFile, key: EncryptionKey?, cachedIn base: String? = nil
    ) throws(StorageError) -> Snapshot? {
        guard let cache = ConversionCache(in: base) else { return nil }
        return find(old, try ConversionCache.Original(old), key: key, in: cache)?.snapshot
    }

    /// Removes expired files from the cache, and what interrupted processes have left there.
    package static func cleanCache() { ConversionCache(in: nil)?.clean() }

    /// Returns the result of an earlier conversion of an open file, with its report. One that is damaged is removed from the cache.
    private static func kept(
        of old: LegacyFile, _ original: ConversionCache.Original, key: EncryptionKey?, in cache: ConversionCache?,
        _ control: WorkControl?
    ) throws(StorageError) -> ConvertedFile? {
        guard let cache, let (file, snapshot) = find(old, original, key: key, in: cache) else { return nil }
        guard let report = try cache.report(of: original, for: file, control) else {
            cache.remove(original)
            return nil
        }
        return ConvertedFile(report, .kept(file), known: snapshot)
    }

    /// Opens the result of an earlier conversion of an open file. One whose schema is damaged is removed from the cache.
    private static func find(
        _ old: LegacyFile, _ original: ConversionCache.Original, key: EncryptionKey?, in cache: ConversionCache
    ) -> (file: OpenFile, snapshot: Snapshot)? {
        guard old.file.witness?.identity == original.facts.identity, let file = cache.find(original) else { return nil }
        do throws(StorageError) {
            return (file, try Snapshot(file: try RealmFile(path: file.path, key: key)))
        } catch {
            switch error {
            case .corrupt, .refused: cache.remove(original)
            case .limit, .io, .stopped: break
            }
            return nil
        }
    }

    /// Converts a file, and keeps the new one if that is possible.
    private static func convert(
        _ old: LegacyFile, _ original: ConversionCache.Original, key: EncryptionKey?, in cache: ConversionCache?,
        _ control: WorkControl?
    ) throws(StorageError) -> ConvertedFile {
        if let cache, let file = cache.newFile(for: original, byteCount: old.file.plainByteCount) {
            do throws(StorageError) {
                let report = try old.convert(to: file, key: key, control)
                // The name in the cache is that of the state before, and the file is that of the state after.
                let isUnchanged = (try? ConversionCache.Original(old)) == original
                if isUnchanged, let kept = try cache.keep(file, report, of: original, control) {
                    return ConvertedFile(report, .kept(kept))
                }
                return ConvertedFile(report, .own(file))
            } catch {
                // There may be room elsewhere.
                guard error.isFullDisk else { throw error }
            }
        }
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        return ConvertedFile(try old.convert(to: file, key: key, control), .own(file))
    }

    /// Opens the newest version of the new file for reading. It stays readable without this value.
    ///
    /// - Parameter key: The key of the old file.
    package func snapshot(key: EncryptionKey?) throws(StorageError) -> Snapshot {
        if let known { return known }
        return try Snapshot(file: try RealmFile(path: path, key: key))
    }
}
