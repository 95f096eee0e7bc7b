// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine

/// A folder beside the measured file, so on the same disk, for what is written to. Gone with `remove`.
struct ScratchFolder {
    let path: String

    init(beside file: String) throws {
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        path = "\(folder)/bench-writes-\(getpid())"
        guard unsafe mkdir(path, 0o700) == 0 else { throw BenchmarkError.unsuitable("cannot make the folder \(path)") }
    }

    /// A durable copy of `file`: nothing of it is left to be written when commits are timed.
    func copy(of file: String, as name: String) throws -> String {
        let target = "\(path)/\(name).realm"
        try FileCopy.copy(file, to: target)
        return target
    }

    func remove() {
        if let folder = unsafe opendir(path) {
            while let entry = unsafe readdir(folder) {
                let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { unsafe unlink("\(path)/\(name)") }
            }
            unsafe closedir(folder)
        }
        unsafe rmdir(path)
    }

    /// How often a second this disk makes 4 KiB at the same place durable: no commit can be faster than two of them.
    func syncsPerSecond() throws -> Double {
        let name = "\(path)/sync"
        let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchmarkError.unsuitable("cannot make \(name)") }
        defer {
            close(descriptor)
            unsafe unlink(name)
        }
        let bytes = [UInt8](repeating: 1, count: 4096)
        let count = 100
        let time = Harness(runs: 5).nanoseconds(repetitions: count) {
            _ = unsafe pwrite(descriptor, bytes, bytes.count, 0)
            _ = fdatasync(descriptor)
        }
        return 1e9 / time
    }
}
