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

    /// Finds the folder of the cache; nil without a private one.
    ///
    /// - Parameter base: The folder for caches; nil for that of the user.
    init?(in base: String?) {
        guard let folder = System.cacheFolder("realm-rest/converted", in: base) else { return nil }
        self.folder = folder
    }

    /// Returns the path for the result of an old file, without its suffix; nil when the file has no name or has just changed.
    private func path(for facts: System.FileFacts) -> String? {
        guard facts.hasName, !facts.wasModified(within: ConversionCache.settling) else { return nil }
        return "\(folder)/\(ConversionCache.generation)-\(facts.signature)"
    }

    /// Opens the result of an old file, which may lose its name at any time; nil when the cache does not have it.
    func find(_ facts: System.FileFacts) -> OpenFile? {
        guard let path = path(for: facts),
            let descriptor = try? System.openRegular(path + ConversionCache.suffix, followsLink: false)
        else { return nil }
        return OpenFile(descriptor)
    }

    /// Reads the report of an old file; nil when the cache does not have it.
    func report(of facts: System.FileFacts) -> ConversionReport? {
        guard let path = path(for: facts), let bytes = ConversionCache.bytes(ofFile: path + ConversionCache.reportSuffix)
        else { return nil }
        return ConversionReport(bytes: bytes)
    }

    /// Marks the result of an old file as used now.
    func noteUse(of facts: System.FileFacts) {
        if let path = path(for: facts) { System.touch(path + ConversionCache.suffix) }
    }

    /// Removes the result of an old file, and its report.
    func remove(_ facts: System.FileFacts) {
        guard let path = path(for: facts) else { return }
        System.remove(path + ConversionCache.suffix)
        System.remove(path + ConversionCache.reportSuffix)
    }

    /// Makes an empty file for the result of an old file, after room was made for it.
    ///
    /// - Parameters:
    ///   - facts: The old file.
    ///   - byteCount: The expected size in bytes.
    /// - Returns: The file; nil when the result would not be kept, or the folder takes no file.
    func newFile(for facts: System.FileFacts, byteCount: Int) -> NewFile? {
        guard path(for: facts) != nil, byteCount <= ConversionCache.maximumByteCount else { return nil }
        makeRoom(for: byteCount)
        return try? NewFile(beside: folder + "/new")
    }

    /// Keeps a converted file, after room was made for its size. A file that cannot be kept stays without a name.
    ///
    /// - Parameters:
    ///   - file: The file, which `newFile` has made.
    ///   - report: Its report.
    ///   - facts: The old file.
    /// - Returns: The file for reading; nil when the cache does not have it, so that the caller may write to `file`.
    func keep(_ file: NewFile, _ report: ConversionReport, of facts: System.FileFacts) -> OpenFile? {
        let bytes = Array(report.text.utf8)
        guard let path = path(for: facts), bytes.count <= ConversionReport.maximumTextByteCount,
            let byteCount = try? System.regularFileSize(file.descriptor), byteCount <= ConversionCache.maximumByteCount,
            let descriptor = try? System.duplicate(file.descriptor)
        else { return nil }
        let kept = OpenFile(descriptor)
        makeRoom(for: byteCount)
        do throws(StorageError) {
            let text = try NewFile(beside: path)
            try System.write(text.descriptor, bytes)
            try text.replace(path + ConversionCache.reportSuffix)
            try file.replace(path + ConversionCache.suffix)
            return kept
        } catch {
            // The file has its name already when only the sync of the folder failed.
            System.remove(path + ConversionCache.suffix)
            return nil
        }
    }

    /// Removes expired files, and what interrupted processes have left.
    func clean() { makeRoom(for: 0) }

    /// Evicts files to make room for a new one, and removes what interrupted processes have left.
    private func makeRoom(for byteCount: Int) {
        guard let names = try? System.names(inFolder: folder) else { return }
        NewFile.removeLeftovers(inFolder: folder, names: names)
        let now = Int(WallClock.now().nanoseconds / 1_000_000_000)
        var files = names.filter { $0.hasSuffix(ConversionCache.suffix) }.compactMap { name in
            System.entry(atPath: folder + "/" + name, followsLink: false).map { (name, entry: $0) }
        }
        files.sort { $1.entry.modified < $0.entry.modified }
        var (count, total) = (byteCount > 0 ? 1 : 0, byteCount)
        var kept: Set<ByteText> = []
        for (name, entry) in files {
            count += 1
            total += entry.byteCount
            let isKept =
                count <= ConversionCache.maximumCount && total <= ConversionCache.maximumByteCount
                && now - entry.modified.seconds <= ConversionCache.maximumAge
            if isKept { kept.insert(ByteText(ConversionCache.stem(name))) } else { System.remove(folder + "/" + name) }
        }
        for name in names
        where name.hasSuffix(ConversionCache.reportSuffix) && !kept.contains(ByteText(ConversionCache.stem(name))) {
            // A report gets its name a moment before its file.
            guard let entry = System.entry(atPath: folder + "/" + name, followsLink: false), now - entry.modified.seconds > 60
            else {
                continue
            }
            System.remove(folder + "/" + name)
        }
    }

    /// Returns a name without its suffix.
    private static func stem(_ name: String) -> String {
        String(decoding: name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    /// Reads a report; nil when there is none of an acceptable size.
    private static func bytes(ofFile path: String) -> [UInt8]? {
        guard let descriptor = try? System.openRegular(path, followsLink: false) else { return nil }
        defer { System.close(descriptor) }
        guard let size = try? System.regularFileSize(descriptor), size <= ConversionReport.maximumTextByteCount else {
            return nil
        }
        return try? System.read(descriptor, at: 0, byteCount: size)
    }
}
