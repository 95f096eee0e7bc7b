// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmHTTP
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// What was begun with some rights, when its owner has others.
@Suite struct RightsChangeTests {
    private static let wide = #"{classes: {"*": [read, subscribe, create, update]}, transactions: true}"#
    private static let own = #"allow: [read, subscribe, create, update], where: "owner == $claims.sub", fields: {hide: [secret]}"#
    private static let thin = "{classes: {A: {\(own)}}, transactions: true}"

    /// Roles of which `turning` is the wide or the thin one.
    private static func roles(turningIsWide: Bool) -> String {
        """
        roles:
          wide: {realms: {app: \(wide)}}
          thin: {realms: {app: \(thin)}}
          turning: {realms: {app: \(turningIsWide ? wide : thin)}}
        """
    }

    /// Something that outlives the request that began it.
    private struct Begun {
        let kind: String
        /// Whether the rights that it was begun with were the wide ones.
        let isWide: Bool
        /// Whether the role that a reload changes gave them.
        var isTurning = false
        /// Whether a reload has changed the rights of its owner since.
        var isEnded = false
        let use: () throws -> HTTPClient.Answer
    }

    private func begin(_ desk: RightsDesk, _ kind: String, _ number: Int, isWide: Bool) throws -> Begun {
        let object = #"{"id":\#(number),"owner":"clerk"\#(isWide ? #","secret":"hunter2""# : "")}"#
        switch kind {
        case "registration", "ticket":
            let made = try desk.ask("POST", "/subscriptions", body: #"{"subscriptions":{"a":{"class":"A"}}}"#).document(kind)
            let (id, url) = (made["id"]?.text ?? "", made["url"]?.text ?? "")
            guard kind == "ticket" else {
                return Begun(kind: kind, isWide: isWide) { try desk.ask("GET", "/changes?subscription=\(id)") }
            }
            return Begun(kind: kind, isWide: isWide) { try desk.request("GET", url, by: desk.clerk) }
        case "outcome":
            let answer = try desk.ask("POST", "/objects/A", [("Prefer", "respond-async")], body: object)
            let path = answer["location"] ?? ""
            _ = try eventually { try desk.request("GET", path, by: desk.clerk).json["state"]?.text == "committed" }
            return Begun(kind: kind, isWide: isWide) { try desk.request("GET", path, by: desk.clerk) }
        case "idempotency":
            let repeated = { try desk.ask("POST", "/objects/A", [("Idempotency-Key", "k\(number)")], body: object) }
            _ = try repeated().document(kind)
            return Begun(kind: kind, isWide: isWide, use: repeated)
        default:
            let id = try desk.ask("POST", "/snapshots", body: "{}").document(kind)["id"]?.text ?? ""
            return Begun(kind: kind, isWide: isWide) { try desk.ask("GET", "/objects/A?snapshot=\(id)") }
        }
    }

    private func eventually(_ body: () throws -> Bool) throws -> Bool {
        for _ in 0..<400 {
            if try body() { return true }
            usleep(10_000)
        }
        return false
    }

    /// Uses all that was begun, and compares with the rights in force.
    private func check(_ all: [Begun], isWide: Bool, seed: UInt64) throws {
        for one in all {
            let answer = try one.use()
            let rights = "begun \(one.isWide ? "wide" : "thin"), now \(isWide ? "wide" : "thin")"
            let story = "seed \(seed), \(one.kind), \(rights): \(answer.status) \(answer.text)"
            #expect(isWide || !answer.text.contains("hunter2"), "\(story)")
            switch (one.kind, one.isWide == isWide) {
            case ("idempotency", true): #expect(answer.status == 201 && answer["idempotency-replayed"] == "true", "\(story)")
            case ("idempotency", false):
                #expect(answer.status == 204 && answer["idempotency-replayed"] == "true" && answer.body.isEmpty, "\(story)")
            case (_, true) where !one.isEnded || one.kind == "outcome": #expect(answer.status == 200, "\(story)")
            case (_, true): #expect(answer.status == 404 || answer.status == 410, "\(story)")
            case (_, false): #expect(answer.status == 404, "\(story)")
            }
        }
    }

    @Test(arguments: Array(1...8) as [UInt64])
    func `what was begun with other rights is not there, and what was begun with the same ones stays`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let kinds = ["registration", "ticket", "outcome", "idempotency", "snapshot"]
        var (roles, turningIsWide) = (["turning"], true)
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: roles)
        let objects = #"[{"id":1,"owner":"clerk","secret":"hunter2a"},{"id":2,"owner":"bob","secret":"hunter2b"}]"#
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: objects).document("objects")
        var isWide: Bool { roles == ["turning"] ? turningIsWide : roles == ["wide"] }
        var all: [Begun] = []
        for step in 0..<24 {
            switch UInt8.random(in: 0..<8, using: &random) {
            case 0:
                turningIsWide.toggle()
                try desk.reload(Self.roles(turningIsWide: turningIsWide))
                for index in all.indices where all[index].isTurning { all[index].isEnded = true }
            case 1:
                roles = [["wide"], ["thin"], ["turning"]][Int.random(in: 0..<3, using: &random)]
                try desk.give(roles)
            case 2: try desk.rotate()
            default:
                let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
                var one = try begin(desk, kind, 100 + step, isWide: isWide)
                one.isTurning = roles == ["turning"]
                all.append(one)
            }
            try check(all, isWide: isWide, seed: seed)
        }
    }

    @Test func `a transaction that was begun with other rights is not there, and a reload rolls it back`() throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["wide"])
        let begin = { try desk.ask("POST", "/transactions", body: "{}").document("begin")["id"]?.text ?? "" }
        let id = try begin()
        let header = [("Realm-Transaction", id)]
        #expect(try desk.ask("POST", "/objects/A", header, body: #"{"id":1,"owner":"bob","secret":"hunter2"}"#).status == 201)
        try desk.give(["thin"])
        for (method, path) in [
            ("GET", "/objects/A"), ("PATCH", "/objects/A/1"), ("GET", "/transactions/\(id)"),
            ("POST", "/transactions/\(id)/commit"), ("DELETE", "/transactions/\(id)"),
        ] {
            let isInside = path.hasPrefix("/objects")
            let body = method == "PATCH" ? #"{"n":1}"# : nil
            let answer = try desk.ask(method, path, isInside ? header : [], body: body)
            #expect(answer.status == 404 && !answer.text.contains("hunter2"), "\(method) \(path): \(answer.text)")
        }
        try desk.give(["wide"])
        #expect(try desk.ask("POST", "/transactions/\(id)/commit").status == 200)
        try desk.give(["turning"])
        let turned = try begin()
        try desk.reload(Self.roles(turningIsWide: false))
        #expect(try desk.ask("GET", "/objects/A", [("Realm-Transaction", turned)]).status == 404)
        // The writer is free at once.
        #expect(try desk.ask("POST", "/objects/A", body: #"{"id":9,"owner":"clerk"}"#).status == 201)
    }

    @Test func `a stream of an administrator by role ends when a reload makes the role narrow`() throws {
        let roles = { (isWide: Bool) -> String in
            let ops = isWide ? "{administer: true}" : "{realms: {app: \(Self.thin)}}"
            return "roles:\n  ops: \(ops)\n  other: {realms: {app: \(Self.wide)}}\n"
        }
        let desk = try RightsDesk(roles(true), clerk: ["ops"])
        let other = APIKeyText()
        try desk.file.add(APIKey(other, name: "other", roles: ["other"]))
        desk.server.state.authenticator.keys.refresh()
        let open = { (key: APIKeyText) in
            let client = try EventClient(
                port: desk.server.daemon.socket.port, "/v1/realms/app/changes?class=A",
                headers: [("Authorization", "Bearer " + key.text)])
            while let event = try client.next(), event.name != "ready" {}
            return client
        }
        let (stream, kept) = (try open(desk.clerk), try open(other))
        try desk.reload(roles(false))
        #expect(try stream.next("end").json["reason"]?.text == "unauthenticated")
        // Whose rights are the same goes on.
        _ = try desk.ask("POST", "/objects/A", by: desk.admin, body: #"{"id":5,"owner":"bob"}"#)
        _ = try kept.next("changes")
    }

    /// A registration used to be answered with an id that a reload had ended already.
    @Test(arguments: [false, true])
    func `a registration is refused when its rights end while it is evaluated, and so is a poll`(_ isReload: Bool) throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["turning"])
        let people = (0..<3000).map { #"{"ssn":"s\#($0)","name":"a rather long name of number \#($0)"}"# }
        _ = try desk.ask("POST", "/objects/P", by: desk.admin, body: "[\(people.joined(separator: ","))]")
        let all = (0..<3000).map { #""s\#($0)""# }.joined(separator: ",")
        for id in 0..<40 {
            let body = #"{"id":\#(id),"owner":"clerk","ps":[\#(all)]}"#
            #expect(try desk.ask("POST", "/objects/A", by: desk.admin, body: body).status == 201)
        }
        // Millions of comparisons.
        func condition(_ count: Int) -> String {
            (0..<count).map { "ANY ps.name CONTAINS[c] 'zy\($0)'" }.joined(separator: " OR ")
        }
        let (port, bearer) = (desk.server.daemon.socket.port, ("Authorization", "Bearer " + desk.clerk.text))
        let (registration, poll) = (Awaited<HTTPClient.Answer?>(), Awaited<HTTPClient.Answer?>())
        let body = #"{"subscriptions":{"a":{"class":"A","where":"\#(condition(150))"}}}"#
        let query = "class=A&wait=0&where=" + ChangeServer.encode(condition(60))
        Threads.spawn("registration") {
            registration.set(
                try? HTTPClient.request(
                    port: port, "POST", "/v1/realms/app/subscriptions", headers: [bearer, ("Content-Type", "application/json")],
                    body: Array(body.utf8)))
        }
        Threads.spawn("poll") {
            poll.set(try? HTTPClient.request(port: port, "GET", "/v1/realms/app/changes?" + query, headers: [bearer]))
        }
        func metric(_ name: String) throws -> Double? {
            ServerMetrics(try desk.request("GET", "/metrics", by: desk.admin).text)[name]
        }
        #expect(try eventually { try metric("observed_definitions") == 2 })
        if isReload {
            try desk.reload(Self.roles(turningIsWide: false))
        } else {
            try desk.file.revoke(desk.clerk.id)
            desk.server.state.authenticator.keys.refresh()
        }
        let (registered, polled) = (try registration.wait(), try poll.wait())
        #expect(registered?.code == (isReload ? "forbidden" : "unauthenticated"), "\(registered?.text ?? "")")
        #expect(registered?.status == (isReload ? 403 : 401))
        #expect(polled?.status == 401, "\(polled?.text ?? "")")
        #expect(try metric("registrations") == 0)
    }

    @Test func `a write that has waited is refused when its key was revoked, or has other rights, meanwhile`() throws {
        for isReload in [false, true] {
            let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["turning"])
            let id = try desk.ask("POST", "/transactions", by: desk.admin, body: "{}").document("begin")["id"]?.text ?? ""
            let answer = try desk.ask(
                "POST", "/objects/A", [("Prefer", "respond-async")], body: #"{"id":3,"owner":"bob","secret":"s"}"#)
            #expect(answer.status == 202)
            if isReload {
                try desk.reload(Self.roles(turningIsWide: false))
            } else {
                try desk.give(["wide"])
            }
            #expect(try desk.ask("DELETE", "/transactions/\(id)", by: desk.admin).status == 204)
            usleep(200_000)
            let stored = try desk.ask("GET", "/objects/A/3", by: desk.admin)
            #expect(stored.status == 404, "reload \(isReload): \(stored.text)")
        }
    }

    /// Such writes used to hold their places in the queue as long as others held the writer.
    @Test(arguments: [false, true])
    func `a write that waits is refused soon after its key was revoked, or has other rights`(_ isReload: Bool) throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["turning"])
        let id = try desk.ask("POST", "/transactions", by: desk.admin, body: "{}").document("begin")["id"]?.text ?? ""
        let answer = try desk.ask("POST", "/objects/A", [("Prefer", "respond-async")], body: #"{"id":3,"owner":"clerk"}"#)
        #expect(answer.status == 202)
        let waiting = { try desk.ask("GET", "", by: desk.admin).document("realm")["pendingWrites"]?.int ?? -1 }
        let before = try waiting()
        if isReload {
            try desk.reload(Self.roles(turningIsWide: false))
        } else {
            try desk.file.revoke(desk.clerk.id)
        }
        #expect(try eventually { try waiting() == before - 1 })
        #expect(try desk.ask("DELETE", "/transactions/\(id)", by: desk.admin).status == 204)
        #expect(try desk.ask("GET", "/objects/A/3", by: desk.admin).status == 404)
    }

    @Test func `a refused request is carried out anew when its key is used with other rights`() throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["thin"])
        let body = #"{"id":7,"owner":"bob"}"#
        let send = { try desk.ask("POST", "/objects/A", [("Idempotency-Key", "k")], body: body) }
        #expect(try send().status == 403)
        #expect(try send()["idempotency-replayed"] == "true")
        try desk.give(["wide"])
        #expect(try send().status == 201)
        try desk.give(["thin"])
        let replayed = try send()
        #expect(replayed.status == 204 && replayed["realm-version"] != nil)
    }

    /// A failed write without waiting counted as one that was carried out, since its answer was 202.
    @Test func `a refused write without waiting is carried out anew with other rights, too`() throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["thin"])
        let headers = [("Idempotency-Key", "k"), ("Prefer", "respond-async")]
        let send = { try desk.ask("POST", "/objects/A", headers, body: #"{"id":7,"owner":"bob"}"#) }
        let first = try send()
        let location = try #require(first["Location"])
        #expect(
            try eventually { try desk.request("GET", location, by: desk.clerk).json["state"]?.text == "failed" }, "\(first.text)")
        #expect(try send()["idempotency-replayed"] == "true")
        try desk.give(["wide"])
        let second = try send()
        #expect(second.status == 202 && second["idempotency-replayed"] == nil, "\(second.text)")
        #expect(try eventually { try desk.ask("GET", "/objects/A/7", by: desk.admin).status == 200 })
        try desk.give(["thin"])
        #expect(try send().status == 204)
    }

    /// The refusal was repeated for ten minutes, to any credential of the principal.
    @Test(arguments: [false, true], [false, true])
    func `a write that was refused for its sender is carried out when it is sent again`(_ isReload: Bool, _ isLate: Bool) throws {
        let desk = try RightsDesk(Self.roles(turningIsWide: true), clerk: ["turning"])
        let id = try desk.ask("POST", "/transactions", by: desk.admin, body: "{}").document("begin")["id"]?.text ?? ""
        let waiting = { try desk.ask("GET", "", by: desk.admin).document("realm")["pendingWrites"]?.int ?? -1 }
        let before = try waiting()
        let headers = [("Idempotency-Key", "k")] + (isLate ? [("Prefer", "respond-async")] : [])
        let (port, bearer) = (desk.server.daemon.socket.port, ("Authorization", "Bearer " + desk.clerk.text))
        let body = #"{"id":3,"owner":"clerk"}"#
        let first = Awaited<HTTPClient.Answer?>()
        Threads.spawn("write") {
            first.set(
                try? HTTPClient.request(
                    port: port, "POST", "/v1/realms/app/objects/A",
                    headers: [bearer, ("Content-Type", "application/json")] + headers, body: Array(body.utf8)))
        }
        #expect(try eventually { try waiting() == before + 1 })
        if isReload { try desk.reload(Self.roles(turningIsWide: false)) } else { try desk.rotate() }
        let refused = try #require(try first.wait())
        #expect(refused.status == (isLate ? 202 : isReload ? 403 : 401), "\(refused.text)")
        #expect(try eventually { try waiting() == before })
        // The rights are the same as before, by the same principal.
        if isReload { try desk.reload(Self.roles(turningIsWide: true)) }
        if let location = refused["Location"] {
            #expect(try eventually { try desk.request("GET", location, by: desk.clerk).json["state"]?.text == "failed" })
        }
        #expect(try desk.ask("DELETE", "/transactions/\(id)", by: desk.admin).status == 204)
        #expect(try desk.ask("GET", "/objects/A/3", by: desk.admin).status == 404)
        let second = try desk.ask("POST", "/objects/A", headers, body: body)
        #expect(second.status == (isLate ? 202 : 201) && second["idempotency-replayed"] == nil, "\(second.text)")
        #expect(try eventually { try desk.ask("GET", "/objects/A/3", by: desk.admin).status == 200 })
        #expect(try desk.ask("POST", "/objects/A", headers, body: body)["idempotency-replayed"] == "true")
    }

    /// The lines before the wrong one were in the realm, and were imported again.
    @Test(arguments: ["application/x-ndjson", "application/json"])
    func `an import that was refused after a part of it is not carried out anew with other rights`(_ type: String) throws {
        let roles = """
            roles:
              wide: {realms: {app: {classes: {"*": [read, create, update, import]}, import: true}}}
              thin: {realms: {app: {classes: {A: {allow: [read, create, update, import], fields: {hide: [secret]}}}, import: true}}}
            """
        let desk = try RightsDesk(roles, clerk: ["wide"])
        let lines = [#"{"id":1,"owner":"hunter2"}"#, #"{"id":2,"owner":"b"}"#, #"{"id":"x","owner":"hunter2"}"#]
        let body = type == "application/json" ? "[\(lines.joined(separator: ",\n"))]" : lines.joined(separator: "\n")
        let send = {
            try desk.ask(
                "POST", "/import?class=A&atomic=false&mode=upsert", [("Content-Type", type), ("Idempotency-Key", "k")], body: body
            )
        }
        let first = try send()
        #expect(first.status == 422 && first.json["committed"]?.int == 2, "\(first.text)")
        let again = try send()
        #expect(again.text == first.text && again["idempotency-replayed"] == "true", "\(again.text)")
        #expect(try desk.ask("DELETE", "/objects/A/1", by: desk.admin).status == 204)
        #expect(try desk.ask("GET", "/objects/A/2", by: desk.admin).status == 200)
        try desk.give(["thin"])
        let other = try send()
        #expect(other.status == 422 && other.code == first.code && other["idempotency-replayed"] == "true", "\(other.text)")
        #expect(other.json["committed"]?.int == first.json["committed"]?.int, "\(other.text)")
        #expect(other.json["pointer"] == nil && other.json["detail"]?.text?.contains("is not carried out again") == true)
        #expect(try desk.ask("GET", "/objects/A/1", by: desk.admin).status == 404)
    }

    /// Where roles forbid something to a client without a credential, it is asked for one: that did not say what was committed.
    @Test func `an import without a credential that is refused after a part of it says how much is there`() throws {
        let roles = """
            roles:
              anonymous: {realms: {app: {classes: {A: {allow: [read, create, import], check: "n == 1"}}, import: true}}}
            """
        let desk = try RightsDesk(roles, clerk: ["admin"])
        let lines = (1...3).map { #"{"id":\#($0),"owner":"b","n":\#($0 < 3 ? 1 : 2)}"# }.joined(separator: "\n")
        let headers = [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", "k")]
        let send = { try desk.request("POST", "/v1/realms/app/import?class=A&atomic=false", by: nil, headers, body: lines) }
        let first = try send()
        #expect(first.status == 401 && first.json["committed"]?.int == 2, "\(first.text)")
        #expect(try desk.ask("DELETE", "/objects/A/1", by: desk.admin).status == 204)
        let again = try send()
        #expect(again.text == first.text && again["idempotency-replayed"] == "true", "\(again.text)")
        #expect(try desk.ask("GET", "/objects/A/1", by: desk.admin).status == 404)
    }

    @Test func `a problem says what a repetition of its request does`() {
        func effect(_ problem: Problem) -> Response.Effect { Response(problem, id: RequestID()).effect }
        let passing: [ProblemCode] = [
            .unauthenticated, .requestTimeout, .notOwner, .writeLockBusy, .rateLimited, .transactionBusy, .deadlineExceeded,
            .outcomeUnknown, .insufficientStorage, .shuttingDown, .hostNotAllowed,
        ]
        for code in ProblemCode.allCases {
            var problem = Problem(code, "x")
            let isPassing = passing.contains(code) || problem.status >= 500 || problem.status == 429
            switch effect(problem) {
            case .refusedForNow: #expect(isPassing, "\(code)")
            case .refused: #expect(!isPassing, "\(code)")
            case .done, .partial: Issue.record("\(code)")
            }
            problem.isPartial = true
            guard case .partial = effect(problem) else {
                Issue.record("\(code) of a part")
                continue
            }
        }
        guard case .refusedForNow = effect(.rightsChanged), case .refused = effect(Problem(.forbidden, "x")) else {
            Issue.record("403")
            return
        }
    }
}
