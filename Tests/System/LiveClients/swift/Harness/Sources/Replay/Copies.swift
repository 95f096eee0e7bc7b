import Foundation
import RealmRest

/// The live queries of the test, mirrors that are made from their change sets, and how they are read afresh.
@MainActor
final class Copies {
    private struct Checked {
        let name: String
        let reach: (String) async throws -> Void
        let compare: () async throws -> String?
        let resets: () -> Int
        let status: () -> String
    }

    private let realm: Realm
    private let direct: Realm
    private var checked: [Checked] = []
    private(set) var changeSets = 0

    init(realm: Realm, direct: Realm) {
        self.realm = realm
        self.direct = direct
    }

    var resets: Int { checked.reduce(0) { $0 + $1.resets() } }

    func begin() async throws {
        try await follow("sorted") { $0.objects(Item.self).sort("-rank", "name") }
        try await follow("filtered") { $0.objects(Item.self).where("rank > $0", 400) }
        try await follow("limited") { $0.objects(Item.self).sort("rank").limit(20) }
        try await follow("distinct") { $0.objects(Item.self).sort("owner.name", "rank").distinct("owner.name") }
        try await follow("owners") { $0.objects(Owner.self).sort("name") }
        try await follow("linked") {
            $0.objects(OwnedItem.self, in: "Item").where("owner.name BEGINSWITH $0", "A").sort("owner.name", "-rank").expand(
                "owner")
        }
        try await followList("listed", owner: 0, "items")
        try await followList("linking", owner: 1, "@links.Item.owner")
        try await followTheRest()
    }

    /// Waits for a version, and compares everything with fresh reads; what differs.
    func compare(at version: String) async throws -> [String] {
        for one in checked {
            do { try await one.reach(version) } catch {
                return ["\(one.name) did not reach \(version): \(error); \(one.status())"]
            }
        }
        var differences: [String] = []
        for one in checked { if let difference = try await one.compare() { differences.append("\(one.name): \(difference)") } }
        return differences
    }

    private func follow<Value: Codable & Sendable & Equatable>(
        _ name: String, _ query: @escaping (Realm) -> Query<Value>
    ) async throws {
        let live = try await query(realm).live()
        add(name, live) { [direct] in try await query(direct).all() }
    }

    private func followList(_ name: String, owner: Int, _ property: String) async throws {
        let live = try await realm.object(Owner.self, key: owner).liveList(property, of: Stored<Item>.self)
        add(name, live) { [direct] in
            try await direct.object(Owner.self, key: owner).page(property, of: Stored<Item>.self, limit: 1000).items
        }
    }

    private func add<Value: Sendable & Equatable>(
        _ name: String, _ live: LiveList<Stored<Value>>, _ fresh: @escaping () async throws -> [Stored<Value>]
    ) {
        let mirror = Mirrored(live.contents)
        Task {
            for try await change in live.changes() {
                change.apply(to: &mirror.rows)
                changeSets += 1
            }
        }
        checked.append(
            Checked(
                name: name, reach: { try await live.reach($0) },
                compare: {
                    let rows = try await fresh()
                    guard live.contents == rows else { return "live \(live.contents)\nfresh \(rows)" }
                    // Readers of a feed run when the main actor is free.
                    for _ in 0..<200 where mirror.rows != rows { try await Task.sleep(for: .milliseconds(5)) }
                    return mirror.rows == rows ? nil : "mirrored \(mirror.rows)\nfresh \(rows)"
                }, resets: { live.resets },
                status: { "\(live.state) at \(live.version ?? ""), \(live.error.map { "\($0)" } ?? "")" }))
    }

    private func followTheRest() async throws {
        let marks = try await realm.object(Owner.self, key: 0).liveDictionary("marks", of: Int64.self)
        let owner = try await realm.object(Owner.self, key: 2).live()
        checked.append(
            Checked(
                name: "marks", reach: { try await marks.reach($0) },
                compare: { [direct] in
                    let fresh = try await direct.object(Owner.self, key: 0).get().marks
                    return marks.contents == fresh ? nil : "\(marks.contents) \(fresh)"
                }, resets: { marks.resets },
                status: { "\(marks.state) at \(marks.version ?? ""), \(marks.error.map { "\($0)" } ?? "")" }))
        checked.append(
            Checked(
                name: "owner", reach: { try await owner.reach($0) },
                compare: { [direct] in
                    let fresh = try await direct.object(Owner.self, key: 2).get()
                    return owner.contents == fresh ? nil : "\(String(describing: owner.contents)) \(fresh)"
                }, resets: { owner.resets },
                status: { "\(owner.state) at \(owner.version ?? ""), \(owner.error.map { "\($0)" } ?? "")" }))
    }
}

@MainActor
private final class Mirrored<Element> {
    var rows: [Element]

    init(_ rows: [Element]) { self.rows = rows }
}
