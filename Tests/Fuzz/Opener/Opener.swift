// SPDX-License-Identifier: Apache-2.0

import Glibc
import RealmPlatform
import RealmStorage
import RealmTestSupport
import RealmVerify

/// Opens the bytes as a file, checks it, and reads all of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func open(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    guard let path = Scratch.file(bytes) else { return 0 }
    guard let file = try? RealmFile(path: path), let snapshot = try? Snapshot(file: file) else { return 0 }
    _ = snapshot.verify()
    var read = DeepRead(snapshot, budget: 50_000)
    try? read.run()
    for table in snapshot.tables {
        for column in table.columns where column.hasSearchIndex && column.collection == nil {
            _ = try? table.indexedKeys(column, equalTo: .int(1)).all()
            _ = try? table.indexedKeys(column, equalTo: .null).all()
        }
    }
    return 0
}

/// A file in memory, another one for each input: the one before may still be mapped.
private enum Scratch {
    static let path = "/dev/shm/fuzz-opener-\(getpid()).realm"

    static func file(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        unlink(path)
        let descriptor = Glibc.open(path, O_CREAT | O_RDWR | O_EXCL, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return write(descriptor, bytes.baseAddress, bytes.count) == bytes.count ? path : nil
    }
}
