// SPDX-License-Identifier: Apache-2.0

@testable import RealmAccess
import RealmEngine
import RealmFormats
import RealmPlatform
import RealmServerSupport
import RealmStorage
import RealmTestSupport
import Testing

/// Random roles, compared with a model that asks each grant about each object and each property.
@Suite struct RightsSumTests {
    /// An object of the model.
    private struct Item: Sendable {
        let id: Int64
        let owner: String
        let level: Int64
        let isOpen: Bool
    }

    /// A rule as text and as a function; nil stands for a claim that is lacking.
    private struct Rule: Sendable {
        let text: String
        let test: @Sendable (Item, Claims) -> Bool?
    }

    /// The claims of a principal; each may be lacking.
    private struct Claims: Sendable {
        let sub: String?
        let level: Int64?
        let groups: [String]?

        var json: String {
            var members: [String] = []
            if let sub { members.append("\"sub\":\"\(sub)\"") }
            if let level { members.append("\"level\":\(level)") }
            if let groups { members.append("\"groups\":[\(groups.map { "\"\($0)\"" }.joined(separator: ","))]") }
            return "{\(members.joined(separator: ","))}"
        }
    }

    /// A grant of the model.
    private struct Grant {
        let actions: [RightsAction]
        let condition: Rule?
        let check: Rule?
        let hidden: [String]
        let readOnly: [String]

        var yaml: String {
            let words = actions.map(\.rawValue).joined(separator: ", ")
            var members = [
                "allow: [\(words)]",
                "fields: {hide: [\(hidden.joined(separator: ", "))], readOnly: [\(readOnly.joined(separator: ", "))]}",
            ]
            if let condition { members.append("where: \"\(condition.text)\"") }
            if let check, actions.contains(.create) || actions.contains(.update) { members.append("check: \"\(check.text)\"") }
            return "{\(members.joined(separator: ", "))}"
        }

        /// Whether nothing limits the grant for an action.
        func isWhole(for action: RightsAction) -> Bool {
            guard condition == nil, hidden.isEmpty else { return false }
            return action != .create && action != .update || check == nil && readOnly.isEmpty
        }

        func gives(_ item: Item, _ claims: Claims) -> Bool {
            guard let condition else { return true }
            return condition.test(item, claims) ?? false
        }

        func leaves(_ item: Item, _ claims: Claims) -> Bool {
            guard let check else { return gives(item, claims) }
            return gives(item, claims) && (check.test(item, claims) ?? false)
        }
    }

    private static let rules = [
        Rule(text: "owner == $claims.sub") { item, claims in claims.sub.map { item.owner == $0 } },
        Rule(text: "NOT owner == $claims.sub") { item, claims in claims.sub.map { item.owner != $0 } },
        Rule(text: "level <= $claims.level") { item, claims in claims.level.map { item.level <= $0 } },
        Rule(text: "owner IN $claims.groups") { item, claims in claims.groups.map { $0.contains(item.owner) } },
        Rule(text: "NOT owner IN $claims.groups AND open == true") { item, claims in
            claims.groups.map { !$0.contains(item.owner) && item.isOpen }
        },
        Rule(text: "open == true") { item, _ in item.isOpen },
        Rule(text: "level > 2 OR owner == $claims.sub") { item, claims in claims.sub.map { item.level > 2 || item.owner == $0 } },
        Rule(text: "owner == $claims.sub AND level < $claims.level") { item, claims in
            guard let sub = claims.sub, let level = claims.level else { return nil }
            return item.owner == sub && item.level < level
        },
    ]

    private static let people = ["ann", "bob", "cy"]
    private static let properties = ["owner", "level", "open", "a", "b"]

    private static func items() -> [Item] {
        (0..<24).map { (number: Int) -> Item in
            Item(id: Int64(number), owner: people[number % 3], level: Int64(number % 5), isOpen: number % 4 < 2)
        }
    }

    private static func realm(_ items: [Item]) throws -> EngineRealm {
        let realm = try EngineRealm([
            ClassInput(
                "Item", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("owner", "string"), PropertyInput("level", "int"),
                    PropertyInput("open", "bool"), PropertyInput("a", "int"), PropertyInput("b", "int"),
                ])
        ])
        try realm.write { session in
            for item in items {
                _ = try session.create(
                    "Item",
                    [
                        "id": .integer(item.id), "owner": .text(item.owner), "level": .integer(item.level),
                        "open": .bool(item.isOpen),
                        "a": .integer(1), "b": .integer(2),
                    ])
            }
        }
        return realm
    }

    private static func grant(_ random: inout SeededGenerator) -> Grant {
        let all: [RightsAction] = [.read, .create, .update, .delete, .subscribe, .export]
        let actions = all.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
        let hidden = properties.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
        let readOnly = properties.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
        let condition = Int.random(in: 0..<4, using: &random) == 0 ? nil : rules.randomElement(using: &random)
        let mayCheck = actions.contains(.create) || actions.contains(.update)
        let check = mayCheck && Bool.random(using: &random) ? rules.randomElement(using: &random) : nil
        return Grant(actions: actions, condition: condition, check: check, hidden: hidden, readOnly: readOnly)
    }

    private static func claims(_ random: inout SeededGenerator) -> Claims {
        Claims(
            sub: Int.random(in: 0..<4, using: &random) == 0 ? nil : people.randomElement(using: &random),
            level: Int.random(in: 0..<4, using: &random) == 0 ? nil : Int64.random(in: 0..<6, using: &random),
            groups: Int.random(in: 0..<4, using: &random) == 0 ? nil : people.filter { _ in Bool.random(using: &random) })
    }

    @Test func `a sum of roles shows what some grant shows, and hides what it has to`() throws {
        let items = Self.items()
        let realm = try Self.realm(items)
        let snapshot = realm.database.current.snapshot
        for seed in UInt64(1)...60 {
            var random = SeededGenerator(seed: seed)
            let grants = (0..<Int.random(in: 1...4, using: &random)).map { _ in Self.grant(&random) }
            let claims = Self.claims(&random)
            let yaml = grants.enumerated().map {
                "  r\($0): {realms: {app: {classes: {\(["Item", "\"*\"", "\"It*\""][$0 % 3]): \($1.yaml)}}}}"
            }
            let book = try RightsSamples.book("roles:\n" + yaml.joined(separator: "\n"))
            let holder = RightsHolder(
                roles: grants.indices.map { "r\($0)" }.shuffled(using: &random),
                claims: try RightsSamples.claims(claims.json))
            let rights = book.rights(of: holder, in: "app")
            #expect(rights.fitting(snapshot) === rights, "seed \(seed)")
            for action in [RightsAction.read, .create, .update, .delete, .subscribe, .export] {
                try compare(
                    rights, action, grants.filter { $0.actions.contains(action) }, (items, claims, snapshot),
                    "seed \(seed) \(action)")
            }
        }
        try realm.finish()
    }

    /// Compares the rights for one action with the grants that give it.
    private func compare(
        _ rights: RealmRights, _ action: RightsAction, _ grants: [Grant],
        _ world: (items: [Item], claims: Claims, snapshot: Snapshot),
        _ comment: Comment
    ) throws {
        let (items, claims, snapshot) = world
        #expect(rights.actions(on: "Item").contains(action) == !grants.isEmpty, comment)
        let shown = try RightsSamples.shown(rights, "Item", in: snapshot, for: action)
        guard !grants.isEmpty else {
            #expect(shown == nil && rights.alternatives(on: "Item", for: action)?.isEmpty == true, comment)
            return
        }
        #expect(shown == items.filter { item in grants.contains { $0.gives(item, claims) } }.map(\.id), comment)
        let properties = RightsSamples.properties(rights, "Item", in: snapshot, for: action) ?? []
        #expect(Set(texts: properties).isDisjoint(with: rights.hidden(on: "Item", for: action)), comment)
        for property in properties {
            for item in items where shown?.contains(item.id) ?? false {
                let isGiven = grants.contains { $0.gives(item, claims) && !$0.hidden.contains(property) }
                #expect(isGiven, "\(comment) shows \(property) of \(item.id)")
            }
        }
        // A property that no grant hides is there, and one that some grant gives without any condition is as well.
        for property in Self.properties + ["id"] {
            let isFree =
                grants.contains { $0.isWhole(for: action) } || !grants.contains { $0.hidden.contains(property) }
            if isFree { #expect(properties.contains(property), "\(comment) hides \(property)") }
        }
        guard action == .create || action == .update else { return }
        let left = try RightsSamples.matching(rights.checks(on: "Item", for: action), "Item", in: snapshot)
        #expect(left == items.filter { item in grants.contains { $0.leaves(item, claims) } }.map(\.id), comment)
        for property in Self.properties where !rights.readOnly(on: "Item", for: action).contains(property) {
            for item in items where left.contains(item.id) {
                let isGiven = grants.contains { $0.leaves(item, claims) && !$0.readOnly.contains(property) }
                #expect(isGiven, "\(comment) lets write \(property) of \(item.id)")
            }
        }
    }
}
