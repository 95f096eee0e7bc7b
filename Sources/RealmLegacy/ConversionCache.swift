// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Converted files that are kept for the next opening: `realm-rest/converted` in the user's folder for caches.
///
/// The name of a file is made of the identity, the size and the times of the old file, so one that has changed is converted anew. What
/// was not used for a week is removed, and what was used longest ago when there is too much. Processes share the folder without locks:
/// a file gets its name when it is complete, and one that is removed stays readable for those who have opened it.
struct ConversionCache {
    /// The folder, which nobody but the user can write to.
    private let folder: String

    /// How many bytes are kept at the most.
    private static let maximumByteCount = 4 << 30
    /// How many files are kept at the most.
    private static let maximumCount = 100
    /// How long a file is kept that nobody uses, in seconds.
    private static let maximumAge = 7 * 24 * 3600
    /// How long a file must have been left alone, in nanoseconds, before its times say that it did not change.
    private static let settling: Int64 = 100_000_000
    /// Counts changes of the conversion that make earlier results outdated.
    private static let generation = 1
    /// The end of the names of converted files.
    private static let suffix = ".realm"
    /// The end of the names of reports.
    private static let reportSuffix = ".report"

    /// Opens the cache of the user; nil without a folder that nobody else can write to.
    init?() {
        guard let folder = System.cacheFolder("realm-rest/converted") else { return nil }
        self.folder = folder
    }

    /// Returns the name of what an old file becomes, without its suffix; nil when the file changed so recently that its times do not
    /// tell whether it changes again.
    private func path(for facts: System.FileFacts) -> String? {
        facts.wasModified(within: ConversionCache.settling) ? nil : "\(folder)/\(ConversionCache.generation)-\(facts.signature)"
    }

    /// A path in the folder, beside which a new file is made.
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
    ///   - file: The file, which was made beside `newPath`.
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

    /// Removes what is old, and what is too much together with a new file.
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
