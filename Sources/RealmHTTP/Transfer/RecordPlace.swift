// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Where one record of an import stands.
struct RecordPlace: Sendable {
    /// Counted from 1.
    let line: Int
    let offset: Int
    let byteCount: Int
}
