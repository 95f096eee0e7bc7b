// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The surroundings of a file: copies that writers left, and the facts of its lock file. Nothing is opened for writing or made.
package struct EvidenceSurroundings {
    /// The names of files of SDKs and servers next to the file, in the order of their bytes.
    package let names: [String]
    /// The contents of the lock file; nil without one of a known form.
    let lock: Lock?

    /// Facts of a lock file, for information only.
    struct Lock {
        /// How many processes have the file open.
        let participants: UInt32
        let newestVersion: UInt64
    }

    /// The most names that are listed.
    private static let maximumCount = 100

    /// The paths of the copies of the file that writers leave next to it, in the order of their bytes.
    package let copies: [String]

    /// Looks around a file.
    package init(ofFile path: String) {
        let folder = System.folder(of: path)
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        let stem = name.hasSuffix(".realm") ? String(decoding: name.utf8.dropLast(6), as: UTF8.self) : name
        let others = ((try? System.names(inFolder: folder)) ?? []).filter { $0 != name }.sorted()
        let found = others.filter { $0.hasPrefix(name + ".") || $0.hasPrefix(stem + ".v") || $0.hasPrefix(name + "_") }
        names = Array(found.prefix(EvidenceSurroundings.maximumCount))
        copies = found.filter { other in
            other.hasPrefix(stem + ".v") && other.hasSuffix(".backup.realm") || other.hasPrefix(name + ".before-")
                || other.hasPrefix(name + ".v") && other.hasSuffix(".backup") || other.hasPrefix(name + ".backup-")
                || other.hasPrefix(name + ".tmp_compaction_space")
        }
        .prefix(EvidenceSurroundings.maximumCount).map { folder == "/" ? "/" + $0 : folder + "/" + $0 }
        lock = found.contains(name + ".lock") ? EvidenceSurroundings.lock(atPath: path + ".lock") : nil
    }

    /// Reads the facts of a lock file.
    private static func lock(atPath path: String) -> Lock? {
        guard let descriptor = try? System.openRegular(path) else { return nil }
        defer { System.close(descriptor) }
        guard let bytes = try? System.read(descriptor, at: 0, byteCount: 24), bytes.count == 24 else { return nil }
        return ByteView.withBytes(of: bytes) { view in
            Lock(
                participants: UInt32(truncatingIfNeeded: view.word(at: 8).byteSwapped >> 32),
                newestVersion: view.word(at: 16).byteSwapped)
        }
    }
}
