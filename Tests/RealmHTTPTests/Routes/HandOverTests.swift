// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmAccess
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Reads that take long begin on the daemon's threads, which everybody shares, and must not stay there.
@Suite struct HandOverTests {
    /// A query on the sample store that never ends by itself: each step multiplies what there is to look at, as what is found is compared with
    /// the object at which the path begins.
    private static let slow: String = {
        let path = "ANY favourites" + String(repeating: ".category.@links.Product.category", count: 8) + ".name == lastName"
        let query = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "/v1/realms/store/objects/Customer?limit=1&where=" + query
    }()

    @Test func `slow queries of one client leave the server to others`() throws {
        let server = try TestServer(["store"]) { options in
            options.limits.readSeconds = 600
            options.limits.workers = 4
            options.limits.workersPerPrincipal = 2
        }
        var slow: [HTTPClient] = []
        for _ in 0..<20 {
            let client = try HTTPClient(port: server.port, source: 9)
            try client.send("GET \(HandOverTests.slow) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            slow.append(client)
        }
        let isBusy = { server.server.daemon.workers.isBusy(for: "127.0.0.9") }
        #expect(eventually { isBusy() })
        let other = try HTTPClient(port: server.port, source: 10)
        for target in [
            "/healthz", "/readyz", "/metrics", "/v1/realms", "/v1/realms/store/objects/Customer?limit=5",
            "/v1/realms/store/objects/Product?limit=5&where=price%20%3E%201", "/v1/realms/store/aggregate/Product?ops=count",
            "/v1/realms/store/export", "/v1/openapi.json", "/v1/realms/store/schema",
        ] {
            #expect(try other.request("GET", target).status == 200, "\(target)")
        }
        // All of these were answered beside the slow ones, which end with their clients.
        #expect(isBusy())
        slow.removeAll()
        #expect(eventually { !isBusy() })
    }

    @Test func `a read that is handed over has the same answer`() throws {
        let server = try TestServer(["store"])
        let all = "/v1/realms/store/objects/Product?limit=200"
        let plain = try server.get(all)
        #expect(plain.status == 200)
        let before = server.server.daemon.workers.threadCount
        // Sorting over links and expanding them takes more than a daemon's thread is lent for, or makes a long answer.
        let dear = try server.get(
            "/v1/realms/store/objects/Product?limit=200&expand=category&where=ANY%20category.@links.Product.category.name%20LIKE%20%27*%27"
        )
        #expect(dear.status == 200)
        let keys = { (answer: HTTPClient.Answer) in answer.json["items"]?.elements?.count }
        #expect(keys(dear) == keys(plain))
        #expect(server.server.daemon.workers.threadCount >= before)
    }

    @Test func `a long body is read by a worker`() throws {
        let server = try TestServer(["store"])
        let text = "name == 'x'" + String(repeating: " OR name == 'x'", count: 500)
        let padding = String(repeating: " ", count: 40 << 10)
        let answer = try server.request(
            "POST", "/v1/realms/store/query/Product", headers: [("Content-Type", "application/json")],
            body: "{\"where\":\"\(text)\"\(padding)}")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(server.server.daemon.workers.threadCount >= 1)
    }
}
