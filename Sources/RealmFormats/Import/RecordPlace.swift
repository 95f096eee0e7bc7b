// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The place of one record of an import in the body.
package struct RecordPlace: Sendable {
    /// The line in which the record begins, counted from 1.
    package let line: Int
    /// How many characters of that line stand before it, as before an element of an array.
    var column = 0
    /// The position of its first byte in the body.
    let offset: Int
    /// Its length in bytes, without the line end.
    package let byteCount: Int
}
