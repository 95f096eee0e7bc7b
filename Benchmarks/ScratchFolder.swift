// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// A folder for the files that benchmarks write, next to the measured file and so on the same disk. It exists until `remove`.
struct ScratchFolder {
    /// The path of the folder, which contains the id of this process.
    let path: String

    /// Makes the folder.
    ///
    /// - Parameter file: The measured file, next to which the folder is made.
    /// - Throws: `BenchmarkError` when it cannot be made.
    init(beside file: String) throws {
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        path = "\(folder)/bench-writes-\(getpid())"
        guard unsafe mkdir(path, 0o700) == 0 else { throw BenchmarkError.unsuitable("cannot make the folder \(path)") }
    }

    /// Makes a durable copy of a file, so that none of it has to be written while commits are measured.
    ///
    /// - Parameters:
    ///   - name: The name of the realm of the copy.
    /// - Returns: The path of the copy.
    func copy(of file: String, as name: String) throws -> String {
        let target = "\(path)/\(name).realm"
        try FileCopy.copy(file, to: target)
        return target
    }

    /// Removes the folder with all files in it.
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

    /// Measures the number of times per second that this disk makes 4 KiB at the same place durable. A commit needs two such
    /// syncs.
    ///
    /// - Returns: The number of syncs per second.
    /// - Throws: `BenchmarkError` when the file for it cannot be made.
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
