// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmLegacy
import RealmPlatform
import RealmStorage
import RealmVerify

/// Opens the bytes as a file of formats 2 to 9, checks it and converts it; the copy has to be sound.
@_cdecl("LLVMFuzzerTestOneInput")
public func convert(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let path = Scratch.file(bytes), let file = try? LegacyFile(path: path) else { return 0 }
    _ = try? file.verify()
    guard let new = try? NewFile(nextTo: path), (try? file.convert(to: new)) != nil else { return 0 }
    guard let copy = try? Snapshot(file: RealmFile(path: new.openPath)), copy.verify().isClean else {
        fatalError("a damaged copy")
    }
    return 0
}

/// A file in memory, another one for each input: the one before may still be mapped.
private enum Scratch {
    static let path = "/dev/shm/fuzz-legacy-\(getpid()).realm"

    static func file(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        unlink(path)
        let descriptor = Glibc.open(path, O_CREAT | O_RDWR | O_EXCL, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return write(descriptor, bytes.baseAddress, bytes.count) == bytes.count ? path : nil
    }
}
