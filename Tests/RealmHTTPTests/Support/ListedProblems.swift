// SPDX-License-Identifier: Apache-2.0

@testable import MicroHTTP
import RealmCalls
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Synchronization
import Testing

/// Checks every problem that servers answer in this target against the codes that its route lists.
@Suite struct ListedProblems {
    /// Begins to check the answers that `HTTPClient` receives, once for the whole process. Test servers call it when they start.
    static func watch() { _ = beginning }

    private static let beginning: Void = HTTPClient.observer.withLock { $0 = HTTPClient.Observer(check) }

    @Sendable private static func check(_ method: String, _ target: String, _ answer: HTTPClient.Answer) {
        guard answer["Content-Type"] == "application/problem+json", let code = answer.json["code"]?.text else { return }
        let match = RouteTable.match(RequestTarget(Array(target.utf8)))
        let route = RouteTable.routes[match.index]
        let listed = route.problems(of: HTTPMethod(rawValue: method)).map(\.rawValue)
        if !listed.contains(code) { Issue.record("\(method) \(route.pattern.text) does not list the problem \(code)") }
    }

    /// The check fails for a code that a route does not have.
    @Test func `a route lists only what it can answer`() throws {
        let read = try #require(RouteTable["/v1/realms/{realm}/objects/{class}/{key}"]?.problems(of: .get))
        #expect(read.contains(.objectNotFound))
        #expect(!read.contains(.duplicateKey) && !read.contains(.tooManyAffected))
        #expect(RouteTable["/healthz"]?.problems(of: .get) == .ofAnyRequest)
    }
}
