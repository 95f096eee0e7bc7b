// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Objects of the class `Item` with values that are spread like those of the measured files.
struct ItemRows {
    private static let first = ["Anna", "Bjorn", "Carla", "Dmitri", "Elena", "Farid", "Grace", "Hiroshi", "Ines", "Jonas"]
    private static let last = ["Andersen", "Bianchi", "Costa", "Dubois", "Eriksson", "Fischer", "Garcia", "Haddad", "Ivanov"]
    private static let front = ["North", "South", "East", "West", "New", "Old", "Upper", "Lower", "Port", "Lake"]
    private static let rear = ["ford", "ville", "burg", "ton", "haven", "field", "bridge", "mouth", "dale", "stead"]

    private var random: SplitMix

    init(_ seed: UInt64) { random = SplitMix(seed) }

    /// The members of one object but its key, in the order of the class.
    private struct Item {
        let name: String
        let age: Int64
        let score: Double
        let isActive: Bool
        let city: String
        let seconds: Int64
        let milliseconds: Int32
        let cents: Int64?
    }

    private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    private mutating func next() -> Item {
        return Item(
            name: Self.first[below(10)] + " " + Self.last[below(9)], age: Int64(below(100)),
            score: Double(below(1 << 30)) / Double(1 << 30) * 1000, isActive: below(10) < 7,
            city: Self.front[below(10)] + Self.rear[below(10)],
            seconds: Int64(1_500_000_000 + below(250_000_000)), milliseconds: Int32(below(1000)),
            cents: below(10) == 0 ? nil : Int64(below(10_000_000)))
    }

    /// As a program in this process gives it: without texts for what is none.
    mutating func input(id: Int, age: Int64? = nil) -> InputObject {
        let item = next()
        return [
            "id": .integer(Int64(id)), "name": .text(item.name), "age": .integer(age ?? item.age), "score": .real(item.score),
            "active": .bool(item.isActive), "city": .text(item.city),
            "createdAt": .typed(.timestamp(Timestamp(seconds: item.seconds, nanoseconds: item.milliseconds * 1_000_000))),
            "balance": item.cents.map { .typed(.decimal(Decimal128($0))) } ?? .null,
        ]
    }

    mutating func json(id: Int, age: Int64? = nil) -> String {
        let item = next()
        let balance = item.cents.map { "\"\($0 / 100).\(10 + $0 % 90)\"" } ?? "null"
        let (day, second) = (item.seconds % 28 + 1, item.seconds % 60)
        let createdAt =
            "20\(10 + day / 2)-\(10 + day % 3)-0\(day % 9 + 1)T\(10 + day / 3):\(10 + day):\(second < 10 ? "0" : "")\(second).\(100 + item.milliseconds % 900)Z"
        return
            "{\"id\":\(id),\"name\":\"\(item.name)\",\"age\":\(age ?? item.age),\"score\":\(item.score),\"active\":\(item.isActive),"
            + "\"city\":\"\(item.city)\",\"createdAt\":\"\(createdAt)\",\"balance\":\(balance)}"
    }

    static let schema = SchemaInput(
        version: 0,
        classes: [
            ClassInput(
                "Item", primaryKey: "id",
                [
                    PropertyInput("id", "int"), PropertyInput("name", "string"), PropertyInput("age", "int"),
                    PropertyInput("score", "double"), PropertyInput("active", "bool"),
                    PropertyInput("city", "string", indexed: "general"), PropertyInput("createdAt", "date"),
                    PropertyInput("balance", "decimal128", optional: true),
                ])
        ])
}
