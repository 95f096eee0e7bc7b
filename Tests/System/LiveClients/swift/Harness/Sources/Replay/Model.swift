import RealmRest

/// A number that equals itself: NaN equals NaN, and 0 does not equal -0.
struct Exact: Codable, Sendable, Equatable {
    let value: Double

    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Double.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }

    static func == (left: Exact, right: Exact) -> Bool {
        left.value.bitPattern == right.value.bitPattern || (left.value.isNaN && right.value.isNaN)
    }
}

struct Owner: RealmClass, Equatable {
    var id: Int
    var name: String
    var items: [Link]
    var marks: [String: Int64]
}

struct Item: RealmClass, Equatable {
    var id: Int
    var name: String
    var rank: Int64
    var price: Decimal128?
    var at: Timestamp?
    var weight: Exact?
    var note: Mixed
    var owner: Link?
}

/// An item with its owner in the place of the link.
struct OwnedItem: Codable, Sendable, Equatable {
    var id: Int
    var rank: Int64
    var owner: Stored<Owner>?

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        rank = try container.decode(Int64.self, forKey: .rank)
        owner = try container.decodeIfPresent(Stored<Owner>.self, forKey: .owner)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
    }

    enum CodingKeys: CodingKey { case id, rank, owner }
}
