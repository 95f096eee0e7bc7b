// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

@Suite("Many streams and many definitions")
struct CrowdTests {
    private static let listeners = 200
    private static let definitions = 30

    @Test
    func
        `each definition is evaluated and encoded once per commit, however many streams it has, and not at all when it is not concerned`()
        throws
    {
        let fixture = try ChangeFixture()
        // The same definition in other words is the same.
        let same = [
            "class=Dog&include=keys&initial=false", "initial=false&include=keys&class=Dog",
            "class=Dog&include=keys&initial=false&hb=event",
        ]
        var streams = try (0..<CrowdTests.listeners).map { try fixture.server.stream("app", same[$0 % same.count]) }
        streams += try (0..<CrowdTests.definitions).map {
            try fixture.server.stream(
                "app", "class=Dog&include=keys&initial=false&where=\(ChangeServer.encode("age > -\($0 + 1)"))")
        }
        for stream in streams { while let event = try stream.next(), event.name != "ready" {} }
        let before = try counts(fixture)
        #expect(try fixture.server.metric("observed_definitions") == Double(CrowdTests.definitions + 1))
        for number in 1...3 {
            let version = try fixture.write(fixture.create(100 + number))
            for stream in streams { #expect(try stream.next()?.id == version) }
            #expect(try counts(fixture) == before.map { $0 + Double(number * (CrowdTests.definitions + 1)) })
        }
        let after = try counts(fixture)
        try fixture.write(fixture.patch(#"{"age":9}"#))
        try fixture.write(fixture.create(200))
        for stream in streams { _ = try stream.next() }
        // The first of the two touched nothing that is observed.
        #expect(try counts(fixture) == after.map { $0 + Double(CrowdTests.definitions + 1) })
    }

    private func counts(_ fixture: ChangeFixture) throws -> [Double] {
        [try fixture.server.metric("evaluations_total") ?? 0, try fixture.server.metric("encodings_total") ?? 0]
    }
}
