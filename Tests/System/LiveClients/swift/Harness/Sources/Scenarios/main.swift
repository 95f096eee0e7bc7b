// What the client does with a server: values, writes, and what ends or hinders live objects.
//
//     Scenarios DIRECT SWALLOWING CUTTING      the addresses of a server, of a proxy that holds streams back, and of a server whose
//                                              answers are cut, each some bytes later than the one before

import Foundation
import Observation
import RealmRest

struct Inner: Codable, Sendable, Equatable {
    var at: Timestamp
}

struct All: RealmClass, Equatable {
    var id: String
    var int: Int64?
    var bool: Bool?
    var data: Data?
    var date: Timestamp?
    var float: Float?
    var double: Double?
    var decimal128: Decimal128?
    var objectId: ObjectId?
    var uuid: UUID?
    var mixed = Mixed.null
    var link: Link?
    var inner: Inner?
    var dates: [Timestamp?] = []
    var ids: Set<UUID> = []
    var sums: [String: Decimal128] = [:]

    init(_ id: String, int: Int64? = nil) { (self.id, self.int) = (id, int) }
}

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

struct Failed: Error {
    let what: String
}

func check(_ holds: Bool, _ what: String) throws { if !holds { throw Failed(what: what) } }

/// The error that a piece of work throws; a failure if there is none or another.
@MainActor
func error<Expected: Error>(_ type: Expected.Type, _ what: String, from work: () async throws -> Void) async throws -> Expected {
    do { try await work() } catch let error as Expected { return error }
    throw Failed(what: "\(what): there was no \(type)")
}

@MainActor
func values(_ realm: Realm) async throws {
    var all = All("a/b %ü", int: .max)
    (all.bool, all.data, all.date) = (true, Data([0, 255]), Timestamp(seconds: 1, nanoseconds: 1))
    (all.float, all.double, all.decimal128) = (1.1, -0.0, "12.50")
    (all.objectId, all.uuid) = (ObjectId("0123456789abcdef01234567"), UUID())
    all.mixed = .list([
        .float(1.5), .double(1), .int(1), .dictionary(["a": .decimal("-Infinity")]), .uuid(UUID()), .data(Data([1])),
    ])
    all.inner = Inner(at: Timestamp(seconds: 1_000_000_000_000, nanoseconds: 7))
    all.dates = [nil, Timestamp(seconds: -1, nanoseconds: 1), Timestamp(seconds: -1_000_000_000_000, nanoseconds: 3)]
    (all.ids, all.sums) = ([UUID(), UUID()], ["é": "1E+3"])
    let written = try await realm.create(all)
    try check(written.value == all && written.value.double?.sign == .minus, "values come back: \(written.value) \(all)")
    var other = All("@x")
    other.link = written.link
    try await realm.create(other)
    let linked = try await realm.objects(All.self).where("link.id == $0 AND link.date == $1", all.id, all.date).all()
    try check(linked.map(\.id) == ["@x"], "found by arguments: \(linked)")
    let read = try await realm.object(All.self, written.link).get()
    try check(read == written, "read by link")
}

@MainActor
func writes(_ realm: Realm) async throws {
    try await realm.create(all: (1...5).map { All("\($0)", int: Int64($0)) })
    let one = try await realm.object(All.self, key: "1").get()
    try await realm.update(one, ifMatch: true) { $0.int = 10 }
    let conflict = try await error(Problem.self, "an old tag") { try await realm.update(one, ifMatch: true) { $0.int = 11 } }
    try check(conflict.status == 412 && conflict.current(All.self)?.int == 10, "412 shows the object")
    let undone = try await error(Failed.self, "a transaction") {
        try await realm.transaction { transaction in
            try await transaction.delete(one.link)
            throw Failed(what: "on purpose")
        }
    }
    try check(undone.what == "on purpose", "the error comes through")
    try check(try await realm.objects(All.self).where("id == '1'").count() == 1, "the transaction is rolled back")
    try check(try await realm.objects(All.self).where("int > $0", 3).where("int < $0", 9).update(["bool": true]) == 2, "many")
    let refused = try await error(Problem.self, "a batch") {
        try await realm.batch { batch in
            let made = try batch.create(All("new"))
            try batch.patch(one, ["link": made])
            try batch.check(one, "int == $0", 77)
        }
    }
    try check(refused.code == "assertion_failed", "a batch is all or nothing")
    let two = realm.objects(All.self).sort("-id").limit(2)
    let last = try await two.all().map(\.id)
    try check(try await two.count() == 2, "a limit counts")
    let numbers = Set(try await realm.objects(All.self).all().map(\.int)).count
    try check(try await realm.objects(All.self).distinct("int").count() == numbers, "what is distinct counts")
    try check(try await two.delete() == 2, "two are deleted")
    try check(try await realm.objects(All.self).all().allSatisfy { !last.contains($0.id) }, "those of the order")
    try check(try await realm.objects(All.self).delete(maxAffected: 9) == 5, "all are deleted")
}

@MainActor
func advanceWrites(_ realm: Realm) async throws {
    try await realm.create(all: (0..<5).map { All("\($0)", int: Int64($0)) })
    let live = try await realm.objects(All.self).sort("int").live()
    var mirror = live.contents
    var changes = live.changes().makeAsyncIterator()
    func follow() async throws { try await changes.next()?.apply(to: &mirror) }

    let observed = Observed()
    withObservationTracking {
        _ = live.contents
    } onChange: {
        observed.note()
    }
    let written = try await live.update(live[0]) { $0.int = 10 }
    try check(observed.isNoted, "observation tells of the change")
    try await live.reach(written.version)
    try check(live.contents.map(\.int) == [1, 2, 3, 4, 10], "shown where it belongs: \(live.contents)")
    while mirror != live.contents { try await follow() }
    _ = try await error(Problem.self, "another primary key") { try await live.update(live[0]) { $0.id = "other" } }
    // The feed has both: the write that was shown in advance, and that it was taken back.
    while mirror[0].id != "other" { try await follow() }
    while mirror[0].id != "1" { try await follow() }
    try check(live[0].id == "1", "taken back")
    let made = try await live.create(All("new", int: 0))
    try check(live.contents.contains { $0.id == "new" }, "created")
    try await live.delete(live.contents.first { $0.id == "3" } ?? made)
    try await live.reach(try await realm.objects(All.self).page(1).version)
    let fresh = try await realm.objects(All.self).sort("int").all()
    try check(live.contents == fresh && fresh.map(\.int) == [0, 1, 2, 4, 10], "as a fresh read: \(fresh)")
    while mirror != live.contents { try await follow() }
    await live.close()
    try check(try await changes.next() == nil && live.state == .ended, "the feed ends with the list")
}

final class Observed: @unchecked Sendable {
    // Changed and read on the main actor only: the observed list belongs to it.
    private(set) var isNoted = false

    func note() { isNoted = true }
}

@MainActor
func endings(_ realm: Realm) async throws {
    var one = All("gone")
    one.dates = [Timestamp(seconds: 1)]
    let stored = try await realm.create(one)
    let object = try await realm.object(All.self, key: "gone").live()
    let dates = try await realm.object(All.self, key: "gone").liveList("dates", of: Timestamp?.self)
    var changes = object.changes().makeAsyncIterator()
    try await realm.delete(stored.link)
    try check(try await changes.next()?.isDeleted == true, "told of the deletion")
    try check(try await changes.next() == nil, "nothing follows")
    for _ in 0..<100 where dates.state != .ended { try await Task.sleep(for: .milliseconds(20)) }
    try check(
        object.contents == nil && object.isDeleted && dates.contents.isEmpty && dates.state == .ended, "ended: \(dates.state)")
    let absent = try await error(Problem.self, "an absent object") { _ = try await realm.object(All.self, key: "gone").live() }
    try check(absent.code == "object_not_found", "404")

    let right = Task { try await realm.objects(All.self).live() }
    let wrong = try await error(Problem.self, "a wrong query") { _ = try await realm.objects(All.self).where("imt > 3").live() }
    try check(wrong.code == "unknown_key_path", "the culprit fails alone")
    let live = try await right.value
    try await realm.create(All("x"))
    try await live.until { $0.contains { $0.id == "x" } }

    let cancelled = Task { try await realm.objects(All.self).changes() }
    cancelled.cancel()
    _ = try await error(CancellationError.self, "a cancelled beginning") { _ = try await cancelled.value }
    var feed = try await realm.objects(All.self).sort("id").changes().makeAsyncIterator()
    let first = try await feed.next()
    try check(first?.isReset == true && first?.rows.isEmpty == false, "a feed begins with the contents")
}

@MainActor
func heldBack(_ url: String, _ direct: Realm) async throws {
    var options = LiveOptions()
    (options.silence, options.pollWait) = (0.3, 1)
    let server = connect(url, options: options)
    let live = try await server.realm("all").objects(All.self).live()
    let written = try await direct.create(All("polled"))
    try await live.reach(written.version)
    try check(live.contents.contains { $0.id == "polled" }, "polls take the place of streams")
    await server.close()
    try check(live.state == .ended, "closed")
    _ = try await error(ConnectionLost.self, "after the end") { _ = try await server.realms() }
}

@MainActor
func wholeRealm(_ realm: Realm) async throws {
    var changes = try await realm.changes().makeAsyncIterator()
    try await realm.create(All("whole"))
    let written = try await changes.next()
    try check(
        written?.classes == ["All"] && written?.isSchemaNew == false, "the class that is written: \(String(describing: written))")
    let step: JSON = ["addProperty": ["class": "All", "property": ["name": "more", "type": "int", "optional": true]]]
    _ = try await realm.request("POST", "/migrations", body: ["fromVersion": 1, "toVersion": 2, "steps": [step]])
    let added = try await changes.next()
    try check(added?.classes == [] && added?.isSchemaNew == true, "a new property: \(String(describing: added))")
}

@MainActor
func cutAnswers(_ url: String) async throws {
    let server = connect(url, attempts: 1)
    var lost = 0
    while true {
        do {
            _ = try await server.realms()
            break
        } catch is ConnectionLost {
            lost += 1
        }
    }
    try check(lost > 30, "answers were cut everywhere, not \(lost) times")
    await server.close()
}

@MainActor
func run(_ direct: String, _ swallowing: String, _ cutting: String) async throws {
    let server = connect(direct)
    let realm = server.realm("all")
    for (name, part) in [
        ("values", values), ("writes", writes), ("advance writes", advanceWrites), ("endings", endings),
        ("changes of a realm", wholeRealm),
    ] {
        try await part(realm)
        say("\(name) hold")
    }
    try await heldBack(swallowing, realm)
    say("polls hold")
    try await cutAnswers(cutting)
    say("cut answers are errors")
    await server.close()
}

try await run(CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
