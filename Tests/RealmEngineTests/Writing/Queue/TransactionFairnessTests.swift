// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

/// Interactive transactions hold the writer for long; nobody may keep it from others by beginning again and again.
@Suite struct TransactionFairnessTests {
    private func realm(_ limits: WriteLimits) throws -> EngineRealm {
        let realm = try EngineRealm(TestSchema.counters, limits: limits)
        try realm.write { _ = try $0.create("Counter", ["_id": .integer(1), "n": .integer(0)]) }
        return realm
    }

    /// What became of several requests, in the order in which they were answered.
    private final class Answers: Sendable {
        let names = Monitor<[String]>([])

        func add(_ name: String) { names.broadcast { $0.append(name) } }
        func wait(_ count: Int) -> [String] {
            names.wait(until: .now().adding(seconds: 60)) { $0.count >= count ? $0 : nil } ?? []
        }
    }

    private func begin(_ realm: EngineRealm, _ client: String, _ name: String, _ answers: Answers) {
        realm.database.beginTransaction(owner: "", client: client, wait: .seconds(10), idleTime: .seconds(0.3)) { result in
            switch result {
            case .success: answers.add(name)
            case .failure(let error): answers.add("\(name) \(error.code.rawValue)")
            }
        }
    }

    /// Fault 18: clients that began one after the other and did nothing let nobody write.
    @Test func `writes get their turn between two transactions, whoever was first`() throws {
        var limits = WriteLimits()
        limits.idleTime = .seconds(0.3)
        let realm = try realm(limits)
        let answers = Answers()
        begin(realm, "a", "first", answers)
        _ = answers.wait(1)
        for number in 2...3 { begin(realm, "a", "a\(number)", answers) }
        begin(realm, "b", "b", answers)
        realm.database.write(EngineRealm.request()) { _ in
        } completion: { _ in
            answers.add("write")
        }
        // The write came last, and is next; then another client's transaction comes before more of the same client.
        #expect(answers.wait(5) == ["first", "write", "b", "a2", "a3"])
        realm.database.close()
    }

    @Test func `one client has so many transactions, open and waiting`() throws {
        var limits = WriteLimits()
        limits.transactionsPerClient = 2
        limits.idleTime = .seconds(0.3)
        let realm = try realm(limits)
        let answers = Answers()
        begin(realm, "a", "first", answers)
        _ = answers.wait(1)
        begin(realm, "a", "second", answers)
        begin(realm, "a", "third", answers)
        #expect(answers.wait(2) == ["first", "third too_many_transactions"])
        begin(realm, "b", "other", answers)
        #expect(answers.wait(4).suffix(2) == ["other", "second"])
        realm.database.close()
    }
}
