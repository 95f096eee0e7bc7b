// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
@testable import MicroHTTP
@testable import RealmAccess
import RealmCalls
import RealmEngine
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// Every listener × every header that tells where a request comes from × every route and method. A short run sends a third of the
/// headers to each method of a route in turn, one at least of each fate.
///
/// The server was started by the image with `--host 0.0.0.0 --insecure`, and whoever reached it attached any file of
/// the machine, deleted it with `files=true`, and migrated. Behind a proxy on loopback all of that was public.
@Suite struct AccessMatrixTests {
    /// A server, and the way in.
    struct Listener: Sendable, CustomTestStringConvertible {
        let name: String
        /// What a plain program on this machine may do there, and what one that came through a proxy may.
        let plain: AccessClass
        let forwarded: AccessClass
        let change: @Sendable (inout ServerOptions) -> Void
        var way = Way.main
        enum Way: Sendable { case main, adminPort, adminSocket }
        var testDescription: String { name }
    }

    private static let socketFolder = NSTemporaryDirectory()

    static let listeners: [Listener] = [
        Listener(name: "loopback", plain: .administer, forwarded: .health, change: { _ in }),
        Listener(name: "loopback --insecure", plain: .administer, forwarded: .read, change: { $0.isInsecure = true }),
        Listener(name: "loopback --no-admin", plain: .write, forwarded: .health, change: { $0.administersOnMain = false }),
        Listener(name: "all addresses --insecure", plain: .read, forwarded: .read, change: everywhere),
        Listener(name: "port of administrators", plain: .administer, forwarded: .health, change: everywhere, way: .adminPort),
        Listener(
            name: "named port of administrators", plain: .administer, forwarded: .health,
            change: { $0.admin = .port(host: "127.0.0.1", port: 0) }, way: .adminPort),
        Listener(
            name: "socket of administrators", plain: .administer, forwarded: .health,
            change: { options in
                everywhere(&options)
                options.admin = .unix(path: socketFolder + "/rr-\(UUID().uuidString.prefix(8)).sock")
            }, way: .adminSocket),
    ]

    private static func everywhere(_ options: inout ServerOptions) {
        options.host = "0.0.0.0"
        options.isInsecure = true
    }

    /// What a request says of where it comes from, and what becomes of it.
    private enum Fate { case plain, forwarded, crossOrigin, wrongHost }
    private static let headers: [(headers: [(String, String)], fate: Fate)] = [
        ([], .plain),
        ([("Host", "localhost:9")], .plain),
        ([("X-Other", "1")], .plain),
        ([("Forwarded", "for=127.0.0.1")], .forwarded),
        ([("forwarded", "")], .forwarded),
        ([("X-Forwarded-For", "127.0.0.1")], .forwarded),
        ([("X-FORWARDED-HOST", "localhost")], .forwarded),
        ([("X-Forwarded-Proto", "http")], .forwarded),
        ([("X-Forwarded", "")], .forwarded),
        ([("x-forwarded-anything", "x")], .forwarded),
        ([("X-Real-IP", "::1")], .forwarded),
        ([("Via", "1.1 proxy")], .forwarded),
        ([("True-Client-IP", "127.0.0.1")], .forwarded),
        ([("CF-Connecting-IP", "127.0.0.1")], .forwarded),
        ([("X-Client-IP", "127.0.0.1")], .forwarded),
        ([("Host", "evil.example")], .wrongHost),
        ([("Host", "evil.example"), ("X-Forwarded-For", "::1")], .wrongHost),
        ([("Host", "localhost:80@evil.example")], .wrongHost),
        ([("Sec-Fetch-Site", "cross-site")], .crossOrigin),
        ([("Origin", "http://localhost:1")], .crossOrigin),
        ([("Via", "1.1 proxy"), ("Sec-Fetch-Site", "same-site")], .crossOrigin),
    ]

    private enum Outcome: Equatable { case taken, hidden, forbidden, unauthenticated, crossOrigin, wrongHost }

    private static func outcome(_ status: Int, _ answer: HTTPClient.Answer) -> Outcome {
        switch status {
        case 401: return .unauthenticated
        case 403: return answer.code == "cross_origin" ? .crossOrigin : .forbidden
        case 404 where answer.json["detail"]?.text == "there is nothing at this path": return .hidden
        case 421: return .wrongHost
        default: return .taken
        }
    }

    private static func expected(_ route: Route, _ method: HTTPMethod, _ fate: Fate, _ listener: Listener) -> Outcome {
        let granted: AccessClass
        switch fate {
        // Links may lead to pages from anywhere; the index at the root is no page for programs.
        case .crossOrigin where route.traits.contains(.showsPages) && route.pattern.text != "/":
            if [.get, .head].contains(method) { return .taken }
            return .crossOrigin
        case .crossOrigin: return .crossOrigin
        case .wrongHost: return .wrongHost
        case .plain: granted = listener.plain
        case .forwarded: granted = listener.forwarded
        }
        // It is there for everybody, and begins with a credential, which nobody has here.
        if route.pattern.text == "/v1/session", method == .post { return .unauthenticated }
        let isThere = !(route.readMethods.isEmpty && route.writeMethods.isEmpty)
        let wanted = isThere ? expectedAccess(route, method) : .read
        if wanted <= granted { return isThere ? .taken : .hidden }
        if granted == .health { return .unauthenticated }
        if route.traits.contains(.isHidden) { return .hidden }
        // A stranger may read at most, and is asked who it is; who is known may not do more.
        return granted == .read ? .unauthenticated : .forbidden
    }

    /// From the table of the tests, not from that of the server.
    private static func expectedAccess(_ route: Route, _ method: HTTPMethod) -> AccessClass {
        let rules = AccessTableTests.expected[route.pattern.label] ?? [:]
        if method == .options { return rules.values.min() ?? .read }
        return rules.first { $0.key.components(separatedBy: ", ").contains(method.rawValue) }?.value ?? .administer
    }

    /// A path of the route, about a realm that is not there: what is let in does nothing.
    private static func path(_ route: Route) -> String {
        guard route.pattern.text != "-" else { return "/nothing/here" }
        return route.pattern.label.replacing("{", with: "").replacing("}", with: "")
    }

    @Test(arguments: listeners)
    func `every request meets what its way in grants`(_ listener: Listener) throws {
        let server = try TestServer(["links"]) { options in
            options.isReadOnly = false
            options.paths = []
            options.memoryRealms = ["kept"]
            listener.change(&options)
        }
        let client = try connect(server, listener)
        var wrong: [String] = []
        var turn = 0
        for route in RouteTable.routes where !route.traits.contains(.isServer) {
            for method in HTTPMethod.allCases where method != .connect {
                turn += 1
                for (number, (headers, fate)) in AccessMatrixTests.headers.enumerated()
                where TestRun.isLong || (number + turn).isMultiple(of: 3) {
                    let fields = headers.isEmpty ? [("Content-Type", "application/json")] : headers
                    let answer = try client.request(method.rawValue, AccessMatrixTests.path(route), headers: fields)
                    let wanted = AccessMatrixTests.expected(route, method, fate, listener)
                    var found = AccessMatrixTests.outcome(answer.status, answer)
                    // The answer to HEAD has no body that would tell one 403 or 404 from another.
                    if method == .head, found == .forbidden, wanted == .crossOrigin { found = wanted }
                    if method == .head, answer.status == 404, wanted == .hidden { found = wanted }
                    if found != wanted {
                        wrong.append(
                            "\(method.rawValue) \(route.pattern.label) \(headers): \(wanted), not \(answer.status) \(answer.text.prefix(120))"
                        )
                    }
                    if found == .unauthenticated { #expect(answer["WWW-Authenticate"] != nil) }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(20).joined(separator: "\n"))")
        // Nothing of all this did anything.
        #expect(server.server.state.catalog.all.map(\.name) == ["kept"])
    }

    private func connect(_ server: TestServer, _ listener: Listener) throws -> HTTPClient {
        switch listener.way {
        case .main: return try HTTPClient(port: server.port)
        case .adminPort: return try HTTPClient(port: try #require(server.server.adminDaemon).socket.port)
        case .adminSocket: return try HTTPClient(unixPath: String(try #require(server.server.adminURL).dropFirst(5)))
        }
    }
}
