// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The file next to a copy that states the last record applied to the copy: `FILE.position`.
///
/// It may be behind the copy, never before it. While records are applied it says so; otherwise the copy has to be the file that
/// was left, so a copy that another program has written to since is no longer followed.
package struct ShipPosition: Sendable, Equatable {
    /// The place in the chain.
    package let chain: RecordChain
    /// The identity, length and time of the copy; nil while records are being applied.
    private let facts: String?

    /// Whether the copy was complete, and is the file that was left then.
    package var isComplete: Bool { facts != nil }

    /// Makes the position of a copy.
    ///
    /// - Parameters:
    ///   - chain: The place in the chain.
    ///   - path: The copy, when it is complete; nil before records are applied.
    package init(_ chain: RecordChain, completeAt path: String?) throws(StorageError) {
        self.chain = chain
        facts = try path.map { path throws(StorageError) in try ShipPosition.facts(of: path) }
    }

    /// The path of the file for a copy.
    package static func path(of copy: String) -> String { copy + ".position" }

    /// Reads the position of a copy; nil when there is none that can be used.
    ///
    /// - Parameter path: The path of the copy.
    package init?(of path: String) {
        guard let bytes = try? FileMapping.contents(ofFile: ShipPosition.path(of: path), limit: 4096) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        guard lines.count == 7, lines[0] == ShipPosition.title, let version = UInt64(lines[3]),
            let checksum = FileDigest.bytes(ofHex: lines[4])
        else { return nil }
        chain = RecordChain(realm: lines[1], epoch: lines[2], version: version, checksum: checksum)
        facts = lines[5].isEmpty ? nil : lines[5]
        guard facts == nil || facts == (try? ShipPosition.facts(of: path)) else { return nil }
    }

    /// Stores the position of a copy, and returns when that is durable.
    package func store(for path: String) throws(StorageError) {
        let lines = [
            ShipPosition.title, chain.realm, chain.epoch, "\(chain.version)", FileDigest.hex(chain.checksum), facts ?? "", "",
        ]
        let place = ShipPosition.path(of: path)
        let file = try NewFile(nextTo: place)
        try System.write(file.descriptor, Array(lines.joined(separator: "\n").utf8))
        try file.replace(place)
    }

    /// The first line of the file.
    private static let title = "realm-rest position 1"

    /// Returns the facts of a copy that are compared.
    private static func facts(of path: String) throws(StorageError) -> String {
        let byteCount = try System.place(path: path).byteCount
        return "\(byteCount) \(try System.facts(path: path).modified)"
    }
}
