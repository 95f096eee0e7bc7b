// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The position of a realm in its log, in a file next to the realm: `FILE.logged`.
///
/// It is written after every commit, and neither is synced then, so after a power cut the realm may be behind what was written
/// here last, or before it. The file has two places, which are used by turns: one of them is that of the realm or of an earlier version,
/// and an interrupted write leaves the other one.
///
/// The top node of the version is stated, too, so that a file which another program has put there with the same version, such as one
/// that was compacted, is not taken for the one that was left.
///
/// One thread at a time uses it.
package final class FilePosition {
    private let backend: FileBackend
    /// The place that is written next.
    private var next = 0

    private static let placeByteCount = 1024
    /// The first line of a place.
    private static let signature = "realm-rest log position 1"

    package struct Place: Sendable, Equatable {
        /// The place in the chain.
        package let chain: RecordChain
        /// The top node of its version.
        package let top: Ref
    }

    package static func path(of realm: String) -> String { realm + ".logged" }

    /// Makes the file anew, and returns when it is durable.
    ///
    /// - Parameters:
    ///   - chain: The place in the chain that the realm has reached.
    ///   - top: The top node of its version.
    ///   - path: The path of the realm.
    package init(_ chain: RecordChain, top: Ref, for path: String) throws(StorageError) {
        let place = FilePosition.path(of: path)
        let file = try NewFile(nextTo: place)
        let bytes = try FilePosition.place(chain, top)
        try System.write(file.descriptor, bytes + bytes)
        try file.replace(place)
        guard let backend = try FileBackend(path: place) else { throw .refused(.fileNotFound) }
        self.backend = backend
    }

    /// Writes a new place, without a sync.
    package func move(to chain: RecordChain, top: Ref) throws(StorageError) {
        let bytes = try FilePosition.place(chain, top)
        let offset = next * FilePosition.placeByteCount
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: offset) }
        next = 1 - next
    }

    /// Reads the last two positions of a realm, the newest first; fewer when they cannot be used.
    ///
    /// - Parameter path: The path of the realm.
    package static func read(for path: String) -> [Place] {
        guard let bytes = try? FileMapping.contents(ofFile: FilePosition.path(of: path), limit: 2 * placeByteCount),
            bytes.count == 2 * placeByteCount
        else { return [] }
        let places = [bytes[..<placeByteCount], bytes[placeByteCount...]].compactMap { place(in: Array($0)) }
        return places.sorted { $0.chain.version > $1.chain.version }
    }

    /// Returns the bytes of a place.
    private static func place(_ chain: RecordChain, _ top: Ref) throws(StorageError) -> [UInt8] {
        let lines = [signature, chain.realm, chain.epoch, "\(chain.version) \(top.rawValue)", FileDigest.hex(chain.checksum), ""]
        let text = Array(lines.joined(separator: "\n").utf8)
        let bytes = text + Array(FileDigest.hex(try FileDigest.sha256(text)).utf8) + [UInt8(ascii: "\n")]
        guard bytes.count <= placeByteCount else { throw .limit("the name of the realm is too long for its log") }
        return bytes + [UInt8](repeating: 0, count: placeByteCount - bytes.count)
    }

    /// Reads a place; nil when it was not written as a whole.
    private static func place(in bytes: [UInt8]) -> Place? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard lines.count == 7, lines[0] == signature else { return nil }
        let numbers = lines[3].split(separator: " ").compactMap { UInt64($0) }
        guard numbers.count == 2, let checksum = FileDigest.bytes(ofHex: lines[4]), checksum.count == LogChecksum.byteCount,
            let digest = try? FileDigest.sha256(Array((lines[..<5].joined(separator: "\n") + "\n").utf8)),
            FileDigest.hex(digest) == lines[5]
        else { return nil }
        let chain = RecordChain(realm: lines[1], epoch: lines[2], version: numbers[0], checksum: checksum)
        return Place(chain: chain, top: Ref(numbers[1]))
    }
}
