// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A file in memory that knows what of it would survive a power failure at any moment.
///
/// What was written since the last sync may be there or not, in any combination of units of the disk, and so may the
/// new size. `log` is filled from `startLog` on; `image` tells what a crash after some of the calls leaves behind.
package final class CrashBackend: StorageBackend, @unchecked Sendable {
    package enum Call: Sendable {
        case write(offset: Int, bytes: [UInt8])
        case extend(Int)
        case sync
    }

    /// What a write that is refused leaves behind.
    package enum Taken: String, Sendable, CaseIterable {
        case nothing, half, everything
        /// Everything for those who read now, nothing for the disk.
        case memoryOnly
    }

    private let live: MemoryBackend
    /// Refuses the write that comes after so many others since `startLog`.
    package var failing: (after: Int, taken: Taken)?
    package private(set) var writeCount = 0
    /// The bytes when the log began, all durable.
    private var start: [UInt8]
    package private(set) var log: [Call] = []
    package private(set) var syncCount = 0

    package init(_ bytes: [UInt8] = [], reservation: Int? = nil) throws {
        live = try MemoryBackend(bytes, reservation: reservation)
        start = bytes
    }

    /// Takes the present state as durable.
    package func startLog() {
        start = live.bytes
        log = []
        writeCount = 0
    }

    package var bytes: [UInt8] { live.bytes }

    /// What is on the disk after a crash that follows the first `count` calls; `unit` bytes are written as a whole.
    package func image(after count: Int, unit: Int, using random: inout SeededGenerator) -> [UInt8] {
        var durable = start
        var pending: [Call] = []
        for call in log.prefix(count) {
            guard case .sync = call else {
                pending.append(call)
                continue
            }
            for call in pending { CrashBackend.apply(call, to: &durable) { true } }
            pending = []
        }
        // Sometimes nothing arrives, sometimes nearly all.
        let chance = [0, 1, 50, 99, 100].randomElement(using: &random) ?? 50
        for call in pending {
            CrashBackend.apply(call, to: &durable, unit: unit) { Int.random(in: 0..<100, using: &random) < chance }
        }
        return durable
    }

    private static func apply(_ call: Call, to bytes: inout [UInt8], unit: Int = .max, _ arrives: () -> Bool) {
        switch call {
        case .sync: return
        case .extend(let count):
            if arrives() { bytes += [UInt8](repeating: 0, count: max(count - bytes.count, 0)) }
        case .write(let offset, let new):
            var first = 0
            while first < new.count {
                let end = unit == .max ? new.count : min(new.count, ((offset + first) / unit + 1) * unit - offset)
                if arrives(), offset + end <= bytes.count {
                    bytes.replaceSubrange(offset + first..<offset + end, with: new[first..<end])
                }
                first = end
            }
        }
    }

    // MARK: - StorageBackend

    package var byteCount: Int { live.byteCount }
    package func memory() throws(StorageError) -> ReservedMemory { live.memory() }

    package func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        defer { writeCount += 1 }
        guard let failing, failing.after == writeCount else { return try take(bytes, at: offset) }
        switch failing.taken {
        case .nothing: break
        case .half: try take(bytes.slice(0, bytes.count / 2), at: offset)
        case .everything: try take(bytes, at: offset)
        case .memoryOnly: try live.write(bytes, at: offset)
        }
        throw .io(operation: "write", errno: 28)
    }

    private func take(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        log.append(.write(offset: offset, bytes: bytes.array))
        try live.write(bytes, at: offset)
    }

    package func extend(to byteCount: Int) throws(StorageError) {
        log.append(.extend(byteCount))
        try live.extend(to: byteCount)
    }

    package func truncate(to byteCount: Int) throws(StorageError) {
        try live.truncate(to: byteCount)
        startLog()
    }

    package func sync(_ scope: SyncScope) throws(StorageError) {
        log.append(.sync)
        syncCount += 1
    }

    package func close() {}
}
