// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmCalls

/// Reads the bytes as the text of a cursor, and as what its checksum stands for; what can be read is written and read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func cursor(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    _ = try? PageCursor(String(decoding: bytes, as: UTF8.self), identity: 7)
    guard let cursor = try? PageCursor(body: bytes[...]) else { return 0 }
    let text = cursor.text(identity: 7)
    guard let again = try? PageCursor(text, identity: 7), again.text(identity: 7) == text else {
        preconditionFailure("a cursor that was written cannot be read: \(bytes)")
    }
    return 0
}
