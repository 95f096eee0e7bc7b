// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A cache of converted files: `realm-rest/converted` in the user's folder for caches.
///
/// The name of a file consists of the identity, the size and the times of the old file, so a changed file is converted again. Files
/// expire a week after their last use; the least recently used ones are evicted first. Processes share the folder without locks: a
/// file gets its name when it is complete, and a removed file stays readable for processes that have opened it.
struct ConversionCache {
    /// The folder; only the user can write to it.
    private let folder: String

    /// The maximum size of all files in bytes.
    private static let maximumByteCount = 4 << 30
    /// The maximum number of files.
    private static let maximumCount = 100
    /// The time in seconds after which an unused file expires.
    private static let maximumAge = 7 * 24 * 3600
    /// The time in nanoseconds since the last write after which the times of a file identify its state: clocks of file systems are
    /// coarse.
    private static let settling: Int64 = 100_000_000
    /// The version of the conversion; another one invalidates the cache.
    private static let generation = 1
    /// The end of the names of converted files.
    private static let suffix = ".realm"
    /// The end of the names of reports.
    private static let reportSuffix = ".report"

    /// Opens the cache of the user; nil without a private folder.
    init?() {
        guard let folder = System.cacheFolder("realm-rest/converted") else { return nil }
        self.folder = folder
    }

    /// Returns the path for the result of an old file, without its suffix; nil when the file has just changed.
    private func path(for facts: System.FileFacts) -> String? {
        facts.wasModified(within: ConversionCache.settling) ? nil : "\(folder)/\(ConversionCache.generation)-\(facts.signature)"
    }

    /// A path in the folder for `NewFile(beside:)`.
    var newPath: String { folder + "/new" }

    /// Returns the path of a converted file and its report; nil when it is not there.
    ///
    /// - Parameters:
    ///   - facts: The old file.
    ///   - key: Its key, which is that of the converted file, too.
    func find(_ facts: System.FileFacts, key: EncryptionKey?) -> (path: String, report: ConversionReport)? {
        guard let path = path(for: facts), let text = ConversionCache.text(ofFile: path + ConversionCache.reportSuffix),
            let report = ConversionReport(text: text), (try? RealmFile(path: path + ConversionCache.suffix, key: key)) != nil
        else { return nil }
        System.touch(path + ConversionCache.suffix)
        return (path + ConversionCache.suffix, report)
    }

    /// Keeps a converted file.
    ///
    /// - Parameters:
    ///   - file: The file, created with `newPath`.
    ///   - report: Its report.
    ///   - facts: The old file.
    /// - Returns: The path of the file; nil when it is not kept.
    func keep(_ file: NewFile, _ report: ConversionReport, of facts: System.FileFacts) -> String? {
        guard let path = path(for: facts), let size = System.entry(file.descriptor)?.byteCount,
            size <= ConversionCache.maximumByteCount
        else { return nil }
        makeRoom(for: size)
        do throws(StorageError) {
            let text = try NewFile(beside: newPath)
            try System.write(text.descriptor, Array(report.text.utf8))
            try text.replace(path + ConversionCache.reportSuffix)
            try file.replace(path + ConversionCache.suffix)
            return path + ConversionCache.suffix
        } catch {
            return nil
        }
    }

    /// Evicts files to make room for a new one.
    private func makeRoom(for byteCount: Int) {
        guard let names = try? System.names(inFolder: folder) else { return }
        NewFile.removeLeftovers(inFolder: folder, names: names)
        let now = Int(WallClock.now().nanoseconds / 1_000_000_000)
        var files = names.filter { $0.hasSuffix(ConversionCache.suffix) }.compactMap { name in
            System.entry(atPath: folder + "/" + name, followsLink: false).map { (name, entry: $0) }
        }
        files.sort { $1.entry.modified < $0.entry.modified }
        var (count, total) = (1, byteCount)
        for (name, entry) in files {
            count += 1
            total += entry.byteCount
            guard
                count > ConversionCache.maximumCount || total > ConversionCache.maximumByteCount
                    || now - entry.modified.seconds > ConversionCache.maximumAge
            else { continue }
            System.remove(folder + "/" + name)
            System.remove(folder + "/" + name.dropLast(ConversionCache.suffix.utf8.count) + ConversionCache.reportSuffix)
        }
    }

    /// Reads a report; nil when there is none of an acceptable size.
    private static func text(ofFile path: String) -> String? {
        guard let descriptor = try? System.openRegular(path, followsLink: false) else { return nil }
        defer { System.close(descriptor) }
        guard let size = try? System.regularFileSize(descriptor), size <= ConversionReport.maximumTextByteCount,
            let bytes = try? System.read(descriptor, at: 0, byteCount: size)
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
