// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A file in memory whose calls fail when they are told to.
package final class FaultBackend: StorageBackend, @unchecked Sendable {
    package enum Kind: String, Sendable, CaseIterable { case write, extend, sync }

    private let live: MemoryBackend
    /// Fails the call of a kind that comes after so many others of it.
    package var failing: (kind: Kind, after: Int, errno: Int32)?
    package private(set) var counts: [Kind: Int] = [:]
    package private(set) var failureCount = 0

    package init(_ bytes: [UInt8] = []) throws { live = try MemoryBackend(bytes) }

    package var bytes: [UInt8] { live.bytes }

    package func resetCounts() { counts = [:] }

    private func fails(_ kind: Kind) -> StorageError? {
        defer { counts[kind, default: 0] += 1 }
        guard let failing, failing.kind == kind, counts[kind, default: 0] == failing.after else { return nil }
        failureCount += 1
        return .io(operation: kind.rawValue, errno: failing.errno)
    }

    package var byteCount: Int { live.byteCount }
    package func memory() throws(StorageError) -> ReservedMemory { live.memory() }

    /// A write that fails leaves the first half of its bytes, in units of 4 KiB: a torn page of an encrypted file is lost.
    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        guard let error = fails(.write) else { return try live.write(bytes, at: offset) }
        try live.write(bytes.slice(0, bytes.count / 2 & ~4095), at: offset)
        throw error
    }

    package func extend(to byteCount: Int) throws(StorageError) {
        if let error = fails(.extend) { throw error }
        try live.extend(to: byteCount)
    }

    package func truncate(to byteCount: Int) throws(StorageError) { try live.truncate(to: byteCount) }

    package func sync(_ scope: SyncScope) throws(StorageError) { if let error = fails(.sync) { throw error } }

    package func close() {}
}
