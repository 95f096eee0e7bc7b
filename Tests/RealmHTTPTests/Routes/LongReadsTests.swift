// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Reads like one that was too long for a daemon's thread go to a worker at once, for a second.
@Suite struct LongReadsTests {
    private static func read(_ target: String, client: String = "127.0.0.1", later seconds: Double = 0) -> ScriptedTask {
        let request = Request(
            methodName: "GET", target: RequestTarget(Array(target.utf8)), headers: RequestHeaders(), id: RequestID(),
            arrival: Instant.now().adding(seconds: seconds), clientAddress: client)
        return ScriptedTask(request) { _ in .now(Response(status: 204)) }
    }

    private static let long = "/v1/realms/a/objects/Item?where=score%20%3E%2012.5%20AND%20name%20==%20%27x%20y%27&limit=3"

    @Test func `reads with other numbers and texts are alike`() {
        let reads = LongReads()
        #expect(!reads.hasOne(like: LongReadsTests.read(LongReadsTests.long)))
        reads.note(LongReadsTests.read(LongReadsTests.long), Instant.now())
        #expect(reads.hasOne(like: LongReadsTests.read(LongReadsTests.long)))
        for alike in [
            "/v1/realms/a/objects/Item?where=score%20%3E%207%20AND%20name%20==%20%27another%20one%27&limit=20",
            "/v1/realms/a/objects/Item?where=score%20%3E%20%20AND%20name%20==%20%27%27&limit=",
        ] { #expect(reads.hasOne(like: LongReadsTests.read(alike)), "\(alike)") }
        for other in [
            "/v1/realms/a/objects/Other?where=score%20%3E%2012.5%20AND%20name%20==%20%27x%20y%27&limit=3",
            "/v1/realms/a/objects/Item?where=score%20%3E%2012.5&limit=3", "/v1/realms/a/objects/Item/5", "/",
        ] { #expect(!reads.hasOne(like: LongReadsTests.read(other)), "\(other)") }
        #expect(!reads.hasOne(like: LongReadsTests.read(LongReadsTests.long, client: "127.0.0.2")))
    }

    @Test func `a read is known for a second, or until one like it is brief`() {
        let reads = LongReads()
        reads.note(LongReadsTests.read(LongReadsTests.long), Instant.now())
        #expect(!reads.hasOne(like: LongReadsTests.read(LongReadsTests.long, later: 1.1)))
        // It was long again, and then brief.
        reads.note(LongReadsTests.read(LongReadsTests.long), begunAt: Instant.now().earlier(bySeconds: 0.1))
        #expect(reads.hasOne(like: LongReadsTests.read(LongReadsTests.long)))
        reads.note(LongReadsTests.read(LongReadsTests.long), begunAt: Instant.now())
        #expect(!reads.hasOne(like: LongReadsTests.read(LongReadsTests.long)))
    }

    @Test func `a target that ends in an escape is a target`() {
        let reads = LongReads()
        for target in ["%", "/%2", "/?%27", "/?'%22", "/?a=%2"] {
            reads.note(LongReadsTests.read(target), Instant.now())
            #expect(reads.hasOne(like: LongReadsTests.read(target)), "\(target)")
        }
    }
}
