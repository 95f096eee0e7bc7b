// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A response of another server.
package struct WebAnswer {
    /// The status code; 0 as long as no head has come.
    package var status = 0
    /// The header fields by their names in lower case.
    package var fields: [ByteText: String] = [:]
    /// The body, unless it was stored in a file.
    package var body: [UInt8] = []
    /// The number of bytes that were stored in a file.
    package var storedByteCount = 0
}
