// SPDX-License-Identifier: Apache-2.0

/// How much address space a growing file takes at a time.
///
/// Addresses cost nothing until they are used, and a range that is large enough never has to move. So a file gets far more of
/// them than it needs now.
enum Reservation {
    /// Room to grow in, at least 16 GiB: a thousand files still fit into the addresses of a process.
    static func capacity(for byteCount: Int) -> Int { max(16 << 30, byteCount * 4) }
}
