// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A cache of converted files: `realm-rest/converted` in the user's folder for caches.
///
/// The name of a file states the identity, the size, the times and the version of the old file, so a changed file is converted again.
/// Files expire a week after their last use; the least recently used ones are evicted first. Processes share the folder without locks:
/// a file gets its name when it is complete, and a removed file stays readable for processes that have opened it. A report begins with
/// the digest of its file, the time of the last change of the file, and a digest of both and the report. The file is compared with its
/// digest if it was changed since. The times of a report are those of its uses.
struct ConversionCache {
    /// The folder; only the user can write to it.
    private let folder: String
    /// The maximum size of all files in bytes.
    private let maximumByteCount: Int

    /// The maximum number of files.
    private static let maximumCount = 100
    /// The time in seconds after which an unused file expires.
    private static let maximumAge = 7 * 24 * 3600
    /// The time in nanoseconds since the last write after which the times of a file identify its state: clocks of file systems are
    /// coarse.
    private static let settling: Int64 = 100_000_000
    /// The version of the conversion; another one invalidates the cache.
    private static let generation = 3
    /// The end of the names of converted files.
    private static let suffix = ".realm"
    /// The end of the names of reports.
    private static let reportSuffix = ".report"
    /// How many bytes a digest takes as text.
    private static let digestByteCount = 64
    /// How many bytes the first line of a report takes.
    private static let lineByteCount = 2 * (digestByteCount + 1) + 17

    /// The state of an old file, from which the name of its result is made.
    struct Original: Equatable {
        /// The identity, the size and the times of the file at its path.
        let facts: System.FileFacts
        /// The mark of its version; nil when it cannot be read. On tmpfs and some other file systems, writes through a mapping do not
        /// change the times.
        private let mark: [UInt8]?

        /// Reads the present state of an open file. It need not be the one at its path, if that has changed since.
        init(_ old: LegacyFile) throws(StorageError) {
            facts = try System.facts(path: old.file.path)
            mark = try? old.file.stateMark()
        }

        /// A text that identifies the state; nil for a file that cannot be named again.
        fileprivate var signature: String? {
            guard facts.hasName, let mark, let digest = try? FileDigest.sha256(mark) else { return nil }
            return facts.signature + "-" + FileDigest.hex(Array(digest.prefix(16)))
        }
    }

    /// Finds the folder of the cache; nil without a private one.
    ///
    /// - Parameters:
    ///   - base: The folder for caches; nil for that of the user.
    ///   - maximumByteCount: The maximum size of all files in bytes.
    init?(in base: String?, maximumByteCount: Int = 4 << 30) {
        guard let folder = System.cacheFolder("realm-rest/converted", in: base) else { return nil }
        self.folder = folder
        self.maximumByteCount = maximumByteCount
    }

    /// Returns the path for the result of an old file, without its suffix; nil when the file has no name or has just changed.
    private func path(for original: Original) -> String? {
        guard !original.facts.wasModified(within: ConversionCache.settling), let signature = original.signature else {
            return nil
        }
        return "\(folder)/\(ConversionCache.generation)-\(signature)"
    }

    /// Opens the result of an old file, which may lose its name at any time; nil when the cache does not have it.
    func find(_ original: Original) -> OpenFile? {
        guard let path = path(for: original),
            let descriptor = try? System.openRegular(path + ConversionCache.suffix, followsLink: false)
        else { return nil }
        return OpenFile(descriptor)
    }

    /// Reads the report of an old file, after every byte of its result was compared with the digest if it was written to since.
    ///
    /// - Parameters:
    ///   - original: The old file.
    ///   - file: Its result, which `find` has returned.
    ///   - control: Can cancel the work.
    /// - Returns: The report; nil when the cache does not have it, or one of the two is damaged.
    /// - Throws: Errors whose `isStop` is true.
    func report(
        of original: Original, for file: OpenFile, _ control: WorkControl?
    ) throws(StorageError) -> ConversionReport? {
        guard let path = path(for: original), let bytes = ConversionCache.bytes(ofFile: path + ConversionCache.reportSuffix)
        else { return nil }
        let text = Array(bytes.dropFirst(ConversionCache.lineByteCount))
        let digest = Array(bytes.prefix(ConversionCache.digestByteCount))
        let time = Array(bytes.dropFirst(digest.count + 1).prefix(16))
        do throws(StorageError) {
            guard bytes.starts(with: try ConversionCache.line(digest, time, text)) else { return nil }
            if try time != file.modifiedText() {
                guard try digest == file.digestText(control) else { return nil }
            }
        } catch {
            if error.isStop { throw error }
            return nil
        }
        return ConversionReport(bytes: text)
    }

    /// Returns the first line of a report.
    ///
    /// - Parameters:
    ///   - digest: The digest of the file as text.
    ///   - time: The time of its last change as text.
    ///   - text: The rest of the report.
    private static func line(_ digest: [UInt8], _ time: [UInt8], _ text: [UInt8]) throws(StorageError) -> [UInt8] {
        let start = digest + [UInt8(ascii: " ")] + time + [UInt8(ascii: " ")]
        return start + Array(FileDigest.hex(try FileDigest.sha256(start + text)).utf8) + [UInt8(ascii: "\n")]
    }

    /// Marks the result of an old file as used now.
    func noteUse(of original: Original) {
        if let path = path(for: original) { System.touch(path + ConversionCache.reportSuffix) }
    }

    /// Removes the result of an old file, and its report.
    func remove(_ original: Original) {
        guard let path = path(for: original) else { return }
        System.remove(path + ConversionCache.suffix)
        System.remove(path + ConversionCache.reportSuffix)
    }

    /// Makes an empty file for the result of an old file, after room was made for it.
    ///
    /// - Parameters:
    ///   - original: The old file.
    ///   - byteCount: The expected size in bytes.
    /// - Returns: The file; nil when the result would not be kept, or the folder takes no file.
    func newFile(for original: Original, byteCount: Int) -> NewFile? {
        guard path(for: original) != nil, byteCount <= maximumByteCount else { return nil }
        makeRoom(for: byteCount)
        return try? NewFile(nextTo: folder + "/new")
    }

    /// Keeps a converted file, after room was made for its size. A file that cannot be kept stays without a name.
    ///
    /// - Parameters:
    ///   - file: The file, which `newFile` has made.
    ///   - original: The old file.
    ///   - control: Can cancel the work.
    /// - Returns: The file for reading; nil when the cache does not have it, so that the caller may write to `file`.
    /// - Throws: Errors whose `isStop` is true.
    func keep(
        _ file: NewFile, _ report: ConversionReport, of original: Original, _ control: WorkControl? = nil
    ) throws(StorageError) -> OpenFile? {
        let bytes = Array(report.text.utf8)
        guard let path = path(for: original), bytes.count <= ConversionReport.maximumTextByteCount,
            let byteCount = try? System.regularFileSize(file.descriptor), byteCount <= maximumByteCount,
            let descriptor = try? System.duplicate(file.descriptor)
        else { return nil }
        let kept = OpenFile(descriptor)
        let line: [UInt8]
        do throws(StorageError) {
            let time = try kept.modifiedText()
            line = try ConversionCache.line(try kept.digestText(control), time, bytes)
        } catch {
            if error.isStop { throw error }
            return nil
        }
        makeRoom(for: byteCount)
        do throws(StorageError) {
            let text = try NewFile(nextTo: path)
            try System.write(text.descriptor, line + bytes)
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
            System.entry(atPath: folder + "/" + name, followsLink: false).map { entry in
                let report = ConversionCache.stem(name) + ConversionCache.reportSuffix
                let use = System.entry(atPath: folder + "/" + report, followsLink: false) ?? entry
                return (name, byteCount: entry.byteCount, used: use.modified)
            }
        }
        files.sort { $1.used < $0.used }
        var (count, total) = (byteCount > 0 ? 1 : 0, byteCount)
        var kept: Set<ByteText> = []
        for (name, byteCount, used) in files {
            count += 1
            total += byteCount
            let isKept =
                count <= ConversionCache.maximumCount && total <= maximumByteCount
                && now - used.seconds <= ConversionCache.maximumAge
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
        guard let size = try? System.regularFileSize(descriptor), size <= lineByteCount + ConversionReport.maximumTextByteCount
        else { return nil }
        return try? System.read(descriptor, at: 0, byteCount: size)
    }
}
