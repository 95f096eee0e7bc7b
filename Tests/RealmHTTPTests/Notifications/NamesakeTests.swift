// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Objects that take the place of others under the names of a definition.
@Suite struct NamesakeTests {
    @Test(arguments: Transport.allCases)
    func `Who knows of the end of an object begins anew with the next one under its name`(_ transport: Transport) throws {
        let fixture = try ChangeFixture()
        let query = ChangeFixture.query([
            "class": "Person", "key": "ann", "property": "kids[0]", "fields": "city", "meta": "none",
        ])
        let start = try fixture.server.poll("app", query)["next"]?.text ?? ""
        try fixture.write(fixture.list("kids", #"{"remove":0}"#))
        // Another client looks at the new one.
        let second = try fixture.server.poll("app", query)
        #expect(second["snapshots"]?.elements?.first?["object"]?["city"]?.text == "Bonn")
        try fixture.write(fixture.patch(#"{"age":1}"#))
        // Its position stays at the end, also when there is more.
        let first = try fixture.server.poll("app", query + "&since=\(start)")
        let end = first["next"]?.text ?? ""
        #expect(
            first["changes"]?.elements?.first?["deleted"]?.isTrue == true && first["changes"]?.elements?.first?["to"]?.text == end
        )
        try fixture.write(
            #"{"patch":{"class":"Person","key":"ann","body":[{"op":"replace","path":"/kids/0/city","value":"Graz"}]}}"#)
        switch transport {
        case .polls:
            let answer = try fixture.server.poll("app", query + "&since=\(end)")
            #expect(answer["reset"]?["reason"]?.text == "retention" && answer["changes"]?.elements?.isEmpty == true)
            #expect(answer["snapshots"]?.elements?.first?["object"]?["city"]?.text == "Graz")
        case .events:
            let stream = try fixture.server.stream("app", query, [("Last-Event-ID", end)])
            #expect(try stream.next("reset").json["reason"]?.text == "retention")
            #expect(try stream.next("snapshot").json["object"]?["city"]?.text == "Graz")
        }
    }
}
