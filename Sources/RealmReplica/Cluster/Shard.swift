// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The shards of a cluster: numbers that names of realms are spread over, and that are given to nodes.
package enum Shard {
    package static let count = 1024

    /// Returns the shard of a realm: the CRC-32 of its name modulo the number of shards, which proxies can calculate too.
    package static func of(_ realm: String) -> Int {
        var remainder: UInt32 = .max
        // A name has at most a few dozen bytes, so bits are as good as a table.
        for byte in realm.utf8 {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0xEDB8_8320 }
        }
        return Int(~remainder) % count
    }
}
