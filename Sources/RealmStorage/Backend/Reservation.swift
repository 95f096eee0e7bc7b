// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The number of addresses that a growing file reserves.
///
/// Addresses cost nothing until they are used, and a range that is large enough never has to move.
/// But a process has 128 TiB of them, which tens of thousands of open files have to share.
enum Reservation {
    /// Returns how many bytes of addresses are reserved for bytes that only this process has, and which
    /// are copied when they outgrow them: at least 16 GiB, as there are few of them.
    static func ofMemory(for byteCount: Int) -> Int { max(16 << 30, byteCount * 4) }

    /// Returns how many bytes of addresses are reserved for a file on disk of `byteCount` bytes: at least
    /// 64 MiB. A file that outgrows them is mapped anew, which copies nothing.
    static func ofFile(for byteCount: Int) -> Int { max(64 << 20, byteCount * 4) }
}
