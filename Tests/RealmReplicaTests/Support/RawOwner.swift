// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage

@testable import RealmReplica

/// An owner of a realm without a file, whose records are any bytes.
struct RawOwner {
    private(set) var driver: OwnerDriver
    private(set) var head: LogHead?
    /// What was acknowledged here: versions, and the checksums of their records.
    private(set) var acknowledged: [(version: UInt64, checksum: LogChecksum)] = []
    private let seconds: Double

    init(_ realm: String, _ node: String, _ log: any RealmLog, seconds: Double = 10) {
        driver = OwnerDriver(realm, LogOwner(node: node, token: "\(node)-\(UInt32.random(in: 0 ... .max))"), log)
        self.seconds = seconds
    }

    private var deadline: Instant { .now().adding(seconds: seconds) }

    mutating func claim() -> OwnerMachine.Outcome {
        let outcome = driver.run(.claim, until: deadline)
        if case .claimed(let claimed) = outcome { head = claimed }
        return outcome
    }

    /// Appends random bytes.
    mutating func append(byteCount: Int = 2000) throws -> OwnerMachine.Outcome {
        guard let before = head else { return .unavailable }
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: 0...255) }
        guard let checksum = LogChecksum(try FileDigest.sha256(before.checksum.bytes + bytes)) else { return .unavailable }
        let outcome = driver.run(
            .append(LogRequest.Entry(version: before.version + 1, checksum: checksum)), bytes, until: deadline)
        if outcome == .stored {
            head?.version += 1
            head?.checksum = checksum
            acknowledged.append((before.version + 1, checksum))
        }
        return outcome
    }

    /// Begins the log of a realm with a base of nothing in particular.
    static func create(_ realm: String, _ log: PostgresLog) throws {
        let file = try NewFile(nextTo: System.temporaryFolder + "/realm-rest")
        try System.write(file.descriptor, Array("base".utf8))
        guard let checksum = LogChecksum([UInt8](repeating: 0, count: 32)) else { return }
        let base = LogBase(
            lineage: "lineage1", version: 1, checksum: checksum, digest: try FileDigest.sha256(file.descriptor), byteCount: 4)
        let head = LogHead(lineage: "lineage1", version: 1, checksum: checksum, epoch: 1, owner: .unowned)
        _ = try log.create(head, of: realm, base: base, from: file.descriptor)
    }
}
