// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmRecovery
internal import RealmStorage

/// Streams the wanted states of a recovery as lines, between a line for the file and one for the end.
///
/// `@unchecked Sendable`: the daemon asks for one piece at a time.
package final class RecoveryStream: ChunkProducer, @unchecked Sendable {
    private let recovery: KeptRecovery
    /// The indices of the wanted lines.
    private let indices: [Int]
    /// The number of lines that were sent; nil before the first.
    private var sent: Int?

    package init(_ recovery: KeptRecovery, _ indices: [Int]) {
        self.recovery = recovery
        self.indices = indices
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        if sent == nil {
            buffer.append(recovery.begin)
            buffer.append(UInt8(ascii: "\n"))
        }
        var next = sent ?? 0
        while next < indices.count, buffer.count < Streaming.chunkBytes {
            let index = indices[next]
            buffer.append(recovery.lines[index].json(id: recovery.id(ofLine: index), hasEvidence: false))
            buffer.append(UInt8(ascii: "\n"))
            next += 1
        }
        sent = next
        guard next == indices.count, buffer.count < Streaming.chunkBytes else { return false }
        writeEnd(to: buffer)
        return true
    }

    private func writeEnd(to buffer: OutputBuffer) {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        writer.key("$end")
        writer.beginObject()
        writer.member("states", int: indices.count)
        writer.key("counts")
        let counts = Recovery.counts(of: indices.map { recovery.lines[$0] })
        writer.value { $0.append(counts) }
        writer.key("incomplete")
        writer.beginArray()
        for reason in recovery.incomplete { writer.string(reason) }
        writer.endArray()
        writer.key("limits")
        writer.beginArray()
        for limit in Recovery.limits { writer.string(limit) }
        writer.endArray()
        writer.endObject()
        writer.endObject()
        buffer.append(writer.buffer)
        buffer.append(UInt8(ascii: "\n"))
    }
}
