// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Synchronization
import Testing

/// 32 writers and 8 readers at once: every answer is of one moment, and every write counts once. Features A24–A26, A34, A36.
@Suite("Writers and readers at once") struct IsolationTests {
    private static let accounts = 40
    private static let startBalance = 1000
    private static let sum = accounts * startBalance

    private static let classes = [
        ClassInput(
            "Account", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("balance", "int", indexed: "general"), PropertyInput("hits", "int"),
            ]),
        ClassInput(
            "Entry", primaryKey: "_id", [PropertyInput("_id", "string"), PropertyInput("to", "object", objectType: "Account")]),
    ]

    /// What writers did, as far as it was answered.
    private struct Tally {
        var hits = 0
        var entries = 0
        var transfers = 0
        var refused = 0
        var reads = 0
        var failures: [String] = []
    }

    @Test func `keep sums, lose nothing, and leave neighbours alone`() throws {
        let server = try WriteServer(IsolationTests.classes) { options in
            options.limits.writeSeconds = 30
            options.graceSeconds = 30
        }
        let bodies = (0..<IsolationTests.accounts).map { #"{"_id":\#($0),"balance":\#(IsolationTests.startBalance),"hits":0}"# }
        #expect(try server.send("POST", "app/objects/Account", "[" + bodies.joined(separator: ",") + "]").status == 201)
        let tally = Mutex(Tally())
        let deadline = Date().addingTimeInterval(TestRun.isLong ? 60 : 2)
        let group = DispatchGroup()
        for index in 0..<40 {
            group.enter()
            let port = server.port
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                do {
                    try index < 32 ? write(port, index, tally, deadline) : read(port, index, tally, deadline)
                } catch {
                    tally.withLock { $0.failures.append("\(index): \(error)") }
                }
            }
        }
        group.wait()
        try check(server, tally)
        try server.finish()
    }

    private func check(_ server: WriteServer, _ tally: borrowing Mutex<Tally>) throws {
        let totals = tally.withLock { $0 }
        #expect(totals.failures.isEmpty, "\(totals.failures.count): \(totals.failures.prefix(5))")
        let answer = try server.get("app/aggregate/Account?ops=sum:balance,sum:hits")
        #expect(answer.json["sum:balance"]?.int == IsolationTests.sum)
        #expect(answer.json["sum:hits"]?.int == totals.hits)
        #expect(try server.get("app/aggregate/Entry?ops=count").json["count"]?.int == totals.entries)
        #expect(totals.reads > 8 && totals.transfers > 32 && totals.refused > 0 && totals.hits > 0, "\(totals)")
        if TestRun.isLong { print("isolation: \(totals)") }
    }

    // MARK: - Writers

    private func write(_ port: Int, _ index: Int, _ tally: borrowing Mutex<Tally>, _ deadline: Date) throws {
        let client = try HTTPClient(port: port)
        var random = SeededGenerator(seed: UInt64(index))
        var step = 0
        while Date() < deadline {
            step += 1
            let from = Int.random(in: 0..<IsolationTests.accounts, using: &random)
            let to = (from + Int.random(in: 1..<IsolationTests.accounts, using: &random)) % IsolationTests.accounts
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3: try hit(client, from, tally)
            case 3..<5: try fail(client, from, to, tally)
            case 5 where index < 4: try transferInside(client, from, to, tally)
            case 6..<8: try transferOnCondition(client, from, to, tally)
            default: try transfer(client, from, to, "\(index)-\(step)", tally)
            }
        }
    }

    private func post(
        _ client: HTTPClient, _ path: String, _ body: String, _ headers: [(String, String)] = []
    ) throws -> HTTPClient.Answer {
        try client.request("POST", "/v1/realms/app/" + path, headers: headers + [WriteServer.json], body: Array(body.utf8))
    }

    private func count(
        _ answer: HTTPClient.Answer, _ tally: borrowing Mutex<Tally>, _ expected: [Int] = [200], _ body: (inout Tally) -> Void
    ) {
        tally.withLock { tally in
            if expected.contains(answer.status) {
                body(&tally)
            } else {
                tally.failures.append("\(answer.status): \(answer.text)")
            }
        }
    }

    private func hit(_ client: HTTPClient, _ account: Int, _ tally: borrowing Mutex<Tally>) throws {
        let body = #"{"ops":[{"increment":{"class":"Account","key":"\#(account)","property":"hits","by":1}}]}"#
        count(try post(client, "batch", body), tally) { $0.hits += 1 }
    }

    private static func increments(_ from: Int, _ to: Int, _ amount: Int) -> String {
        """
        {"increment":{"class":"Account","key":"\(from)","property":"balance","by":-\(amount)}},
        {"increment":{"class":"Account","key":"\(to)","property":"balance","by":\(amount)}}
        """
    }

    /// Takes what is only there sometimes, and writes an entry about it.
    private func transfer(
        _ client: HTTPClient, _ from: Int, _ to: Int, _ name: String, _ tally: borrowing Mutex<Tally>
    ) throws {
        let body = """
            {"ops":[{"assert":{"class":"Account","key":"\(from)","where":"balance >= $0","args":[200]}},
            \(IsolationTests.increments(from, to, 200)),{"create":{"class":"Entry","body":{"_id":"\(name)","to":\(to)}}}]}
            """
        let answer = try post(client, "batch", body)
        if answer.code == "assertion_failed" { return tally.withLock { $0.refused += 1 } }
        count(answer, tally) {
            $0.transfers += 1
            $0.entries += 1
        }
    }

    /// Takes, counts and then fails: nobody may ever see it.
    private func fail(_ client: HTTPClient, _ from: Int, _ to: Int, _ tally: borrowing Mutex<Tally>) throws {
        let body = """
            {"ops":[{"increment":{"class":"Account","key":"\(from)","property":"balance","by":-777}},
            {"increment":{"class":"Account","key":"\(to)","property":"hits","by":1000}},
            {"create":{"class":"Entry","body":{"_id":"never-\(from)-\(to)"}}},
            {"assert":{"class":"Account","where":"FALSEPREDICATE"}}]}
            """
        count(try post(client, "batch", body), tally, [409]) { $0.refused += 1 }
    }

    /// Reads, then writes both balances if nobody else has changed them: the whole file is the condition.
    private func transferOnCondition(_ client: HTTPClient, _ from: Int, _ to: Int, _ tally: borrowing Mutex<Tally>) throws {
        let list = try client.request("GET", "/v1/realms/app/objects/Account?limit=1000&fields=balance")
        let items = list.json["items"]?.elements ?? []
        func balance(_ index: Int) -> Int? { index < items.count ? items[index]["balance"]?.int : nil }
        guard let old = balance(from), let other = balance(to), let version = list.json["version"]?.text else {
            return count(list, tally, []) { _ in }
        }
        let body = """
            {"ops":[{"patch":{"class":"Account","key":"\(from)","body":{"balance":\(old - 5)}}},
            {"patch":{"class":"Account","key":"\(to)","body":{"balance":\(other + 5)}}}]}
            """
        let answer = try post(client, "batch", body, [("If-Match", "\"v.\(version)\"")])
        if answer.status == 412 { return tally.withLock { $0.refused += 1 } }
        count(answer, tally) { $0.transfers += 1 }
    }

    /// A transfer in an interactive transaction, one request after another.
    private func transferInside(_ client: HTTPClient, _ from: Int, _ to: Int, _ tally: borrowing Mutex<Tally>) throws {
        let begun = try post(client, "transactions", #"{"wait":"2s"}"#)
        // Others may be ahead for long.
        guard begun.status == 201, let id = begun.json["id"]?.text else {
            return count(begun, tally, [423]) { $0.refused += 1 }
        }
        let header = [("Realm-Transaction", id)]
        for (account, sign) in [(from, -1), (to, 1)] {
            let old =
                try client.request("GET", "/v1/realms/app/objects/Account/\(account)", headers: header).json["balance"]?.int
                ?? 0
            let patched = try client.request(
                "PATCH", "/v1/realms/app/objects/Account/\(account)", headers: header + [WriteServer.json],
                body: Array("{\"balance\":\(old + sign * 11)}".utf8))
            count(patched, tally) { _ in }
        }
        if from % 3 == 0 {
            let gone = try client.request("DELETE", "/v1/realms/app/transactions/\(id)")
            return count(gone, tally, [204]) { $0.refused += 1 }
        }
        count(try client.request("POST", "/v1/realms/app/transactions/\(id)/commit"), tally) { $0.transfers += 1 }
    }

    // MARK: - Readers

    private func read(_ port: Int, _ index: Int, _ tally: borrowing Mutex<Tally>, _ deadline: Date) throws {
        let client = try HTTPClient(port: port)
        var kind = index
        while Date() < deadline {
            kind += 1
            let (sum, text) = try readSum(client, kind % 4)
            tally.withLock { tally in
                tally.reads += 1
                if sum != IsolationTests.sum {
                    tally.failures.append("sum \(sum.map { "\($0)" } ?? "none") in \(text.prefix(300))")
                }
            }
        }
    }

    private func readSum(_ client: HTTPClient, _ kind: Int) throws -> (Int?, String) {
        func get(_ path: String) throws -> HTTPClient.Answer { try client.request("GET", "/v1/realms/app/" + path) }
        func sum(_ objects: [ParsedJSON]) -> Int { objects.compactMap { $0["balance"]?.int }.reduce(0, +) }
        switch kind {
        case 0:
            let answer = try get("objects/Account?limit=1000")
            return (answer.json["items"]?.elements.map(sum), answer.text)
        case 1:
            let answer = try get("aggregate/Account?ops=sum:balance")
            return (answer.json["sum:balance"]?.int, answer.text)
        case 2:
            let answer = try get("export?format=json&class=Account&where=TRUEPREDICATE")
            return (answer.json["objects"]?["Account"]?.elements.map(sum), answer.text)
        default:
            let answer = try get("objects/Account?where=balance%20%3E%20-1000000&sort=-balance&format=ndjson")
            let objects = try answer.text.split(separator: "\n").map { try ParsedJSON(parsing: String($0)) }
            return (sum(objects), answer.text)
        }
    }
}
