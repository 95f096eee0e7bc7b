// SPDX-License-Identifier: Apache-2.0

/// The number of addresses that a growing file reserves.
///
/// Addresses cost nothing until they are used, and a range that is large enough never has to move.
/// So a file gets far more of them than it needs at first.
enum Reservation {
    /// Returns how many bytes of addresses are reserved for a file of `byteCount` bytes: at least
    /// 16 GiB, so that a thousand files still fit into the addresses of a process.
    static func capacity(for byteCount: Int) -> Int { max(16 << 30, byteCount * 4) }
}
