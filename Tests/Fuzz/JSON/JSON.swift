// SPDX-License-Identifier: Apache-2.0

import RealmFormats

/// Parses the bytes as a body.
@_cdecl("LLVMFuzzerTestOneInput")
public func json(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    _ = try? JSONParser.parse(Array(UnsafeBufferPointer(start: start, count: count)), depthLimit: 64)
    return 0
}
