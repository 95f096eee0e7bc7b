// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import Testing

/// What is kept for clients goes by who has most.
@Suite struct KeptSharesTests {
    private static let later = Instant.now().adding(seconds: 1000)

    @Test func `the client that has most loses its oldest, and of several that have as much the oldest of all goes`() {
        var shares = KeptShares()
        for (name, client) in [("1", "a"), ("2", "b"), ("3", "b"), ("4", "b")] {
            shares.add(ByteText(name), of: ByteText(client), byteCount: 0, until: Self.later.adding(seconds: Double(name) ?? 0))
        }
        #expect(shares.removeOne(beyond: 4) == nil)
        let gone = (0..<4).map { shares.removeOne(beyond: 3 - $0)?.text }
        #expect(gone == ["2", "3", "1", "4"])
        #expect(shares.removeOne(beyond: 0) == nil)
    }

    @Test func `documents go by their bytes, and what they belong to stays`() {
        var shares = KeptShares()
        shares.add("small", of: "a", byteCount: 10, until: Self.later)
        for name in ["1", "2", "3"] { shares.add(ByteText(name), of: "b", byteCount: 100, until: Self.later) }
        shares.add("none", of: "b", byteCount: 0, until: Self.later)
        #expect(shares.removeDocument(beyond: 310) == nil)
        #expect((0..<2).map { _ in shares.removeDocument(beyond: 120)?.text } == ["1", "2"])
        #expect(shares.removeDocument(beyond: 120) == nil)
        // All five are still counted.
        #expect(shares.removeOne(beyond: 4) == "1")
        shares.remove("3")
        #expect(shares.removeDocument(beyond: 0) == "small")
        #expect(shares.removeDocument(beyond: 0) == nil)
    }

    @Test func `what is too old is removed of every client`() {
        var shares = KeptShares()
        shares.add("new", of: "a", byteCount: 5, until: Self.later)
        shares.add("old", of: "b", byteCount: 5, until: Instant.now().adding(seconds: -1))
        #expect(shares.removeOld().map(\.text) == ["old"])
        #expect(shares.removeDocument(beyond: 0) == "new")
    }
}
