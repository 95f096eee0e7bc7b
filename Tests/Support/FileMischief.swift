// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// What somebody may do to a file while it is served.
package enum FileMischief: String, CaseIterable, Sendable {
    case emptied, shortened, removed, renamedAway, replacedByRename, overwrittenInPlace, overwrittenWithJunk
    case overwrittenWithZeros, scribbled, lengthened, headerFlipped, lockRemoved, folderRemoved

    /// Does it to the file at `path`; `other` is a sound file of another realm.
    package func act(on path: String, other: String) throws {
        let files = FileManager.default
        switch self {
        case .emptied: unsafe truncate(path, 0)
        case .shortened: unsafe truncate(path, off_t(try FileMischief.size(path) / 2 & ~4095))
        case .removed: try files.removeItem(atPath: path)
        case .renamedAway: try files.moveItem(atPath: path, toPath: path + ".moved")
        case .replacedByRename:
            try files.copyItem(atPath: other, toPath: path + ".other")
            unsafe rename(path + ".other", path)
        case .overwrittenInPlace: try FileMischief.write(try Data(contentsOf: URL(fileURLWithPath: other)), to: path)
        case .overwrittenWithJunk:
            try FileMischief.write(Data((0..<(1 << 18)).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }), to: path)
        case .overwrittenWithZeros: try FileMischief.write(Data(count: 1 << 18), to: path)
        case .scribbled:
            var random = SeededGenerator(seed: 5)
            let size = try FileMischief.size(path)
            for _ in 0..<300 {
                try FileMischief.write(
                    Data([UInt8.random(in: 0...255, using: &random)]), to: path, at: Int.random(in: 64..<size, using: &random))
            }
        case .lengthened: unsafe truncate(path, off_t(try FileMischief.size(path) + 4096))
        case .headerFlipped:
            let flags = try Data(contentsOf: URL(fileURLWithPath: path))[23]
            try FileMischief.write(Data([flags ^ 1]), to: path, at: 23)
        case .lockRemoved: try files.removeItem(atPath: path + ".lock")
        case .folderRemoved: try files.removeItem(atPath: (path as NSString).deletingLastPathComponent)
        }
    }

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    /// Writes into the file that is there, without making it another one.
    package static func write(_ data: Data, to path: String, at offset: Int = 0) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
