// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Generates objects of the class `Item` with values that are distributed like those of the measured files.
///
/// The same seed gives the same objects.
struct ItemRows {
    /// The first names from which the value of `name` is combined.
    private static let first = ["Anna", "Bjorn", "Carla", "Dmitri", "Elena", "Farid", "Grace", "Hiroshi", "Ines", "Jonas"]
    /// The last names from which the value of `name` is combined.
    private static let last = ["Andersen", "Bianchi", "Costa", "Dubois", "Eriksson", "Fischer", "Garcia", "Haddad", "Ivanov"]
    /// The first parts of city names.
    private static let front = ["North", "South", "East", "West", "New", "Old", "Upper", "Lower", "Port", "Lake"]
    /// The second parts of city names.
    private static let rear = ["ford", "ville", "burg", "ton", "haven", "field", "bridge", "mouth", "dale", "stead"]

    /// The generator of random numbers.
    private var random: SplitMix

    /// Makes a generator of objects.
    ///
    /// - Parameter seed: Determines the values of all objects.
    init(_ seed: UInt64) { random = SplitMix(seed) }

    /// The values of one object without its key, in the order of the class.
    private struct Item {
        /// The value of `name`: a first and a last name.
        let name: String
        /// The value of `age`: a number from 0 to 99.
        let age: Int64
        /// The value of `score`: a number from 0 to 1000.
        let score: Double
        /// The value of `active`: true for about seven of ten objects.
        let isActive: Bool
        /// The value of `city`: one of a hundred names.
        let city: String
        /// The seconds of the date since 1970.
        let seconds: Int64
        /// The milliseconds of the date.
        let milliseconds: Int32
        /// The balance in cents; nil for one of ten objects.
        let cents: Int64?
    }

    /// Returns a random number from 0 to `limit` - 1.
    private mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }

    private mutating func next() -> Item {
        return Item(
            name: Self.first[below(10)] + " " + Self.last[below(9)], age: Int64(below(100)),
            score: Double(below(1 << 30)) / Double(1 << 30) * 1000, isActive: below(10) < 7,
            city: Self.front[below(10)] + Self.rear[below(10)],
            seconds: Int64(1_500_000_000 + below(250_000_000)), milliseconds: Int32(below(1000)),
            cents: below(10) == 0 ? nil : Int64(below(10_000_000)))
    }

    /// Returns the next object as an input of the engine, with typed values.
    ///
    /// - Parameters:
    ///   - id: The primary key.
    ///   - age: The age; nil for a random one.
    mutating func input(id: Int, age: Int64? = nil) -> InputObject {
        let item = next()
        return [
            "id": .integer(Int64(id)), "name": .text(item.name), "age": .integer(age ?? item.age), "score": .real(item.score),
            "active": .bool(item.isActive), "city": .text(item.city),
            "createdAt": .typed(.timestamp(Timestamp(seconds: item.seconds, nanoseconds: item.milliseconds * 1_000_000))),
            "balance": item.cents.map { .typed(.decimal(Decimal128($0))) } ?? .null,
        ]
    }

    /// Returns the next object as JSON of the HTTP interface.
    ///
    /// - Parameters:
    ///   - id: The primary key.
    ///   - age: The age; nil for a random one.
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

    /// The schema with the class `Item`, for new files.
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
