// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
import RealmStorage

/// The target of the output of `realm-rest recover`: standard output, or a new file in another folder than that of the evidence.
struct RecoverySink {
    /// The path of the new file; nil for standard output.
    private let path: String?
    /// The new file, which gets its name when it is complete.
    private let file: NewFile?
    /// Bytes that were not written yet.
    private var pending: [UInt8] = []
    /// The number of bytes in the new file.
    private var offset = 0

    /// The number of bytes that are written at a time.
    private static let pieceByteCount = 1 << 16

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - path: The path of the new file; nil for standard output.
    ///   - evidenceFile: The path of the file that is examined.
    /// - Throws: `ExitCode(64)` for a file that exists, or lies next to the evidence.
    init(_ path: String?, evidenceFile: String) throws {
        self.path = path
        guard let path else {
            file = nil
            return
        }
        guard System.entry(atPath: path) == nil else { throw wrongUse("there is a file at '\(path)' already") }
        let folders = try [path, evidenceFile].map { try System.resolved(System.folder(of: $0)) }
        guard folders[0] != folders[1] else {
            throw wrongUse("--output must be in another folder than '\(evidenceFile)', next to which nothing is written")
        }
        file = try NewFile(nextTo: path)
    }

    mutating func write(_ bytes: [UInt8]) throws {
        pending += bytes
        if pending.count >= RecoverySink.pieceByteCount { try flush() }
    }

    /// Writes the rest, and gives the file its name.
    mutating func finish() throws {
        try flush()
        if let file, let path { try file.publish(as: path) }
    }

    /// Writes the unwritten part.
    private mutating func flush() throws {
        if let file {
            try ByteView.withBytes(of: pending) { view throws(StorageError) in
                try System.write(file.descriptor, view, at: offset)
            }
            offset += pending.count
        } else {
            try StandardStreams.output(pending)
        }
        pending.removeAll(keepingCapacity: true)
    }
}
