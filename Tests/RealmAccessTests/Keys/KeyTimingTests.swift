// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// How long a refusal takes says nothing of how much of a key was right.
@Suite(.serialized) struct KeyTimingTests {
    private static let tries = TestRun.isLong ? 10_000 : 2_000

    /// Returns a key with another digit at a position of its secret, and the check digit that fits.
    private static func changed(_ key: APIKeyText, at position: Int) throws -> APIKeyText {
        var bytes = Array(key.text.utf8)
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        let start = bytes.count - 44
        bytes[start + position] = digits[(try #require(digits.firstIndex(of: bytes[start + position])) + 1) % 62]
        for digit in digits {
            bytes[bytes.count - 1] = digit
            if case .key(let key) = APIKeyText.read(bytes) { return key }
        }
        throw HTTPClient.Failure(description: "no check digit fits")
    }

    @Test func `a wrong secret is refused as fast whatever of it is right`() throws {
        let folder = NSTemporaryDirectory() + "key-timing-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = KeyFile(dataFolder: folder)
        let right = APIKeyText()
        try file.add(APIKey(right, name: "one", roles: ["admin"]))
        let store = KeyStore(file)
        store.refresh()
        #expect(store.principal(of: right, from: "127.0.0.1") != nil)
        var wrong = try [0, 1, 21, 41, 42].map { try Self.changed(right, at: $0) }
        // An id that nobody has.
        wrong.append(APIKeyText())
        // Something else on the machine may disturb a round, so a difference has to last.
        var spread = 0.0
        for _ in 0..<5 {
            spread = Self.spread(store, wrong)
            if spread < 1.1 { break }
        }
        #expect(spread < 1.1, "the medians differ by a factor of \(spread)")
    }

    /// Returns by which factor the medians of the times of refusals differ.
    private static func spread(_ store: KeyStore, _ keys: [APIKeyText]) -> Double {
        var times = keys.map { _ in [Int64]() }
        for _ in 0..<tries {
            // All take turns, so that what disturbs one disturbs the others.
            for (index, key) in keys.enumerated() {
                let begin = ContinuousClock.now
                let principal = store.principal(of: key, from: "127.0.0.1")
                let time = ContinuousClock.now - begin
                if principal == nil { times[index].append(time.components.attoseconds / 1_000_000_000) }
            }
        }
        let medians = times.map { $0.sorted()[tries / 2] }
        return Double(medians.max() ?? 0) / Double(max(1, medians.min() ?? 1))
    }
}
