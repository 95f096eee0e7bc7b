// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Reads the memory sizes of this process from the system.
enum ProcessMemory {
    /// Resets the largest resident size, so that `peakMiB` covers the time from now on.
    static func resetPeak() {
        let descriptor = unsafe open("/proc/self/clear_refs", O_WRONLY)
        guard descriptor >= 0 else { return }
        _ = unsafe write(descriptor, "5", 1)
        close(descriptor)
    }

    /// The largest resident size in MiB, which includes pages of mapped files.
    static var peakMiB: Int { kibibytes("VmHWM:") / 1024 }

    /// The resident memory in bytes that belongs to no file.
    static var anonymousBytes: Int { kibibytes("RssAnon:") * 1024 }

    /// Returns a size from the status file of the process in KiB; 0 when it cannot be read.
    ///
    /// - Parameter name: The name of the line, with its colon.
    private static func kibibytes(_ name: String) -> Int {
        guard let file = unsafe fopen("/proc/self/status", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            return text.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0
        }
        return 0
    }
}
