// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// An answer of another server.
struct WebAnswer {
    /// The status code; 0 as long as no head has come.
    var status = 0
    /// The header fields by their names in lower case.
    var fields: [ByteText: String] = [:]
    /// The body, unless it was stored in a file.
    var body: [UInt8] = []
    /// The number of bytes that were stored in a file.
    var storedByteCount = 0
}
