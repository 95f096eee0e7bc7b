// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Requests of one client over the rate that is allowed.
@Suite struct RateLimitTests {
    private let begin = Instant.now()
    private func instant(_ seconds: Double) -> Instant { begin.adding(seconds: seconds) }

    @Test func `a client has one second's worth at once, and then what time brings`() {
        let limiter = RateLimiter()
        for _ in 0..<4 { #expect(limiter.secondsToWait("a", rate: 4, instant(0)) == nil) }
        #expect(limiter.secondsToWait("a", rate: 4, instant(0)) == 0.25)
        #expect(limiter.secondsToWait("a", rate: 4, instant(0.125)) == 0.125)
        #expect(limiter.secondsToWait("a", rate: 4, instant(0.25)) == nil)
        #expect(limiter.secondsToWait("a", rate: 4, instant(0.25)) == 0.25)
        // However long a client rests, more than one second's worth does not gather.
        for _ in 0..<4 { #expect(limiter.secondsToWait("a", rate: 4, instant(900)) == nil) }
        #expect(limiter.secondsToWait("a", rate: 4, instant(900)) == 0.25)
    }

    @Test func `clients do not share, until there are too many to remember`() {
        let limiter = RateLimiter()
        for number in 0..<20_000 { _ = limiter.secondsToWait("client \(number)", rate: 1, instant(0)) }
        #expect(limiter.clientCount <= 16_385)
        #expect(limiter.secondsToWait("client 0", rate: 1, instant(0)) == 1)
        #expect(limiter.secondsToWait("one more", rate: 1, instant(0)) == 1)
        // A second later all buckets are full and forgotten.
        #expect(limiter.secondsToWait("one more", rate: 1, instant(1)) == nil)
        #expect(limiter.clientCount < 10)
    }

    @Test func `there is no limit without a rate`() {
        let limiter = RateLimiter()
        for _ in 0..<1000 { #expect(limiter.secondsToWait("a", rate: 0, instant(0)) == nil) }
        #expect(limiter.clientCount == 0)
    }

    @Test func `over the rate is 429, but health is told`() throws {
        let server = try TestServer(["links"]) { $0.limits.rate = 5 }
        let answers = try (0..<20).map { _ in try server.get("/v1/realms") }
        #expect(answers.prefix(5).allSatisfy { $0.status == 200 })
        let refused = try #require(answers.first { $0.status == 429 })
        #expect(refused.code == "rate_limited")
        #expect(refused.json["limit"]?.int == 5)
        #expect(["1", "2"].contains(refused["Retry-After"]))
        for path in ["/healthz", "/readyz"] {
            for _ in 0..<10 { #expect(try server.get(path).status == 200) }
        }
        // A wrong host is told before.
        #expect(try server.get("/v1/realms", headers: [("Host", "evil.example")]).status == 421)
    }
}
