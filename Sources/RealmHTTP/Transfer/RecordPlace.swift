// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Where one record of an import stands.
struct RecordPlace: Sendable {
    /// Counted from 1.
    let line: Int
    /// Where the record begins in the body.
    let offset: Int
    /// Its length without the end of the line.
    let byteCount: Int
}
