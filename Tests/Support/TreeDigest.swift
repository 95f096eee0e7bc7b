// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// Everything about a folder and what is in it, at any depth: names, kinds, modes, sizes, times of the last change, links, bytes.
package struct TreeDigest: Equatable, Sendable {
    /// By path below the folder.
    package let entries: [String: String]

    package init(_ folder: String) {
        var entries: [String: String] = ["": TreeDigest.describe(folder)]
        TreeDigest.collect(folder, "", into: &entries)
        self.entries = entries
    }

    /// What differs, in words, but for the paths in `ignored`.
    package func differences(from before: TreeDigest, ignoring ignored: Set<String> = []) -> [String] {
        Set(entries.keys).union(before.entries.keys).subtracting(ignored).sorted().compactMap { path in
            let old = before.entries[path]
            let new = entries[path]
            return old == new ? nil : "\(path): \(old ?? "nothing") -> \(new ?? "nothing")"
        }
    }

    private static func collect(_ folder: String, _ prefix: String, into entries: inout [String: String]) {
        guard let handle = unsafe opendir(folder) else { return }
        defer { unsafe closedir(handle) }
        while let entry = unsafe readdir(handle) {
            let bytes = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            // What a server keeps about its realms is not theirs.
            guard name != ".", name != "..", name != ".realm-rest" else { continue }
            let path = folder + "/" + name
            entries[prefix + name] = describe(path)
            var info = stat()
            if unsafe lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR {
                collect(path, prefix + name + "/", into: &entries)
            }
        }
    }

    private static func describe(_ path: String) -> String {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return "unknown" }
        let times = "\(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)"
        var text = "mode \(String(info.st_mode, radix: 8)) size \(info.st_size) links \(info.st_nlink) at \(times)"
        switch info.st_mode & S_IFMT {
        case S_IFLNK: text += " to \((try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "?")"
        case S_IFREG where info.st_size < 64 << 20: text += " bytes \(hash(path))"
        default: break
        }
        return text
    }

    /// FNV-1a.
    private static func hash(_ path: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        unsafe data.withUnsafeBytes { bytes in
            for index in 0..<bytes.count { hash = unsafe (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        }
        return hash
    }
}
