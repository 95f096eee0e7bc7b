// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify
import Testing

@testable import RealmLegacy

/// What is kept of converted files.
@Suite struct ConversionCacheTests {
    private let home: String
    private let old: String

    /// The folder of the cache.
    private var folder: String { home + "/realm-rest/converted" }

    init() throws {
        home = NSTemporaryDirectory() + "cache-\(UUID().uuidString)"
        old = home + "/old.realm"
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try write("v9-blob")
    }

    /// Writes the old file, long enough ago to be known by its times.
    private func write(_ name: String) throws {
        let name = try #require(LegacyFixtures.names.first { $0 == name } ?? LegacyFixtures.names.first)
        try Data(LegacyFixtures.bytes(name)).write(to: URL(fileURLWithPath: old))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: old)
    }

    /// Runs a body, and removes the folder.
    private func caching(_ body: () throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        try body()
    }

    private func convert(_ path: String) throws -> ConvertedFile? { try ConvertedFile.open(path: path, cachedIn: home) }

    private func kept() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".realm") }
    }

    @Test func `a second opening finds the first conversion, with its report`() throws {
        try caching {
            let first = try #require(try convert(old))
            #expect(first.file == nil && kept().count == 1)
            let second = try #require(try convert(old))
            #expect(second.report == first.report)
            #expect(try second.snapshot(key: nil).verify().errors == [])
        }
    }

    @Test func `a conversion that lost its place is readable for as long as it is held`() throws {
        try caching {
            let converted = try #require(try convert(old))
            try FileManager.default.removeItem(atPath: folder)
            #expect(try converted.snapshot(key: nil).verify().errors == [])
        }
    }

    @Test func `a changed file is converted again`() throws {
        try caching {
            _ = try convert(old)
            try change()
            _ = try convert(old)
            #expect(kept().count == 2)
        }
    }

    @Test func `a file that nothing can name again is not kept`() throws {
        try caching {
            let descriptor = unsafe open(old, O_RDONLY)
            defer { close(descriptor) }
            try FileManager.default.removeItem(atPath: old)
            let converted = try #require(try convert("/proc/self/fd/\(descriptor)"))
            #expect(converted.file != nil && kept() == [])
        }
    }

    @Test func `a folder that others may write to is not used`() throws {
        try caching {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home)
            let converted = try #require(try convert(old))
            #expect(converted.file != nil && kept() == [])
        }
    }

    @Test func `expired files and reports without a file are removed`() throws {
        try caching {
            _ = try convert(old)
            try age(by: 8 * 24 * 3600)
            let expired = kept()
            try change()
            let converted = try #require(try convert(old))
            #expect(converted.file == nil && kept().count == 1 && kept() != expired)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    /// Makes all files of the cache older.
    private func age(by seconds: Double) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: folder + "/" + name)
        }
    }

    /// Returns how many seconds ago the file in the cache was used.
    private func keptAge() throws -> Double {
        let path = folder + "/" + (try #require(kept().first)).dropLast(".realm".count) + ".report"
        let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        return -(try #require(date)).timeIntervalSinceNow
    }

    /// Writes the old file again, which gives it other times.
    private func change() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: old))
        try bytes.write(to: URL(fileURLWithPath: old))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -30)], ofItemAtPath: old)
    }

    @Test func `a look at the kept file is no use of it, and an opening is one`() throws {
        try caching {
            _ = try convert(old)
            try age(by: 3600)
            let file = try LegacyFile(path: old, countsRows: false)
            #expect(try ConvertedFile.keptSnapshot(of: file, key: nil, cachedIn: home) != nil)
            #expect(try keptAge() > 3000)
            _ = try convert(old)
            #expect(try keptAge() < 3000)
        }
    }

    @Test func `a damaged file in the cache is removed, and the old file is converted again`() throws {
        try caching {
            let first = try #require(try convert(old))
            let name = folder + "/" + (try #require(kept().first))
            for damage in [Data(repeating: 0x5a, count: 4096), Data()] {
                try damage.write(to: URL(fileURLWithPath: name))
                let file = try LegacyFile(path: old, countsRows: false)
                #expect(try ConvertedFile.keptSnapshot(of: file, key: nil, cachedIn: home) == nil)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
                let second = try #require(try convert(old))
                #expect(second.file == nil && second.report == first.report && kept().count == 1)
                #expect(try second.snapshot(key: nil).verify().errors == [])
            }
        }
    }

    /// Every opening would read all bytes otherwise.
    @Test func `a kept file is compared with its digest only if it was written to since`() throws {
        try caching {
            _ = try convert(old)
            let path = folder + "/" + (try #require(kept().first))
            var info = stat()
            try #require(unsafe stat(path, &info) == 0)
            var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            bytes[bytes.count - 1] ^= 1
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.write(contentsOf: bytes)
            try handle.close()
            let times = [info.st_atim, info.st_mtim]
            try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
            #expect(try convert(old) != nil)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
            try #require(unsafe utimensat(AT_FDCWD, path, nil, 0) == 0)
            #expect(try convert(old) != nil)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != bytes)
        }
    }

    @Test func `a byte of the kept file or of its report that differs has the old file converted again`() throws {
        try caching {
            let first = try #require(try convert(old))
            let path = folder + "/" + (try #require(kept().first))
            for name in [path, String(path.dropLast(".realm".count)) + ".report"] {
                for part in [0.3, 0.6, 0.999] {
                    var bytes = try Data(contentsOf: URL(fileURLWithPath: name))
                    bytes[Int(Double(bytes.count) * part)] ^= 1
                    try bytes.write(to: URL(fileURLWithPath: name))
                    let second = try #require(try convert(old))
                    #expect(second.file == nil && second.report == first.report, "\(name), \(part)")
                    #expect(try second.snapshot(key: nil).verify().errors == [])
                    #expect(kept().count == 1)
                }
            }
        }
    }

    @Test func `the name of a kept file tells a version whose file has the same times and size`() throws {
        try caching {
            _ = try convert(old)
            // The slot of the header that is not in use is the one that a commit writes first.
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: old))
            defer { try? handle.close() }
            let flags = try #require(try handle.read(upToCount: 24)).last ?? 0
            try handle.seek(toOffset: flags & 1 == 0 ? 8 : 0)
            try handle.write(contentsOf: Data([24, 0, 0, 0, 0, 0, 0, 0]))
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -30)], ofItemAtPath: old)
            _ = try convert(old)
            // The times differ in a test, as they do on most file systems; the last part is what does not depend on them.
            #expect(Set(kept().compactMap { $0.split(separator: "-").last.map(String.init) }).count == 2)
        }
    }

    @Test func `a report keeps notes about losses, and counts those that it drops`() throws {
        defer { try? FileManager.default.removeItem(atPath: home) }
        var report = ConversionReport(fromFormat: 9)
        for number in 0..<ConversionReport.maximumNoteCount + 5 { report.note(.renamed, "\(number)") }
        #expect(report.isLossless)
        for number in 0..<3 { report.note(.linksLeftOut, "lost \(number)") }
        #expect(!report.isLossless && report.notes.count == ConversionReport.maximumNoteCount)
        #expect(report.noteCount == ConversionReport.maximumNoteCount + 8)
        #expect(report.notes.suffix(3).map(\.text) == ["lost 0", "lost 1", "lost 2"])
        #expect(ConversionReport(bytes: Array(report.text.utf8)) == report)
    }

    @Test func `room is made for the size that a converted file has, and one that is too large is not kept`() throws {
        try caching {
            let cache = try #require(ConversionCache(in: home, maximumByteCount: 4 << 20))
            let report = ConversionReport(fromFormat: 9)
            for (mebibytes, isKept) in [(3, true), (5, false), (2, true)] {
                let file = try NewFile(nextTo: folder + "/new")
                #expect(ftruncate(file.descriptor, mebibytes << 20) == 0)
                try change()
                let original = try ConversionCache.Original(try LegacyFile(path: old, countsRows: false))
                #expect((try cache.keep(file, report, of: original) != nil) == isKept)
                // The second file leaves the first one where it is, and the third one takes its place.
                #expect(kept().count == 1)
            }
            let path = folder + "/" + (try #require(kept().first))
            #expect(System.entry(atPath: path)?.byteCount == 2 << 20)
        }
    }
}
