import Foundation
import Testing

@testable import RealmRest

@Suite struct Values {
    @Test func momentsKeepTheirNanoseconds() throws {
        var draw = Draw()
        for _ in 0..<5000 {
            let nanoseconds = [0, 1, Int32.random(in: 0..<1_000_000_000, using: &draw)].randomElement(using: &draw) ?? 0
            let moment = Timestamp(
                seconds: .random(in: -62_135_596_800..<253_402_300_800, using: &draw), nanoseconds: nanoseconds)
            #expect(moment.rfc3339.flatMap(Timestamp.init(rfc3339:)) == moment, "seed \(seed)")
        }
        #expect(Timestamp(rfc3339: "2026-01-01T02:00:00.5+02:00") == Timestamp(seconds: 1_767_225_600, nanoseconds: 500_000_000))
        #expect(Timestamp(seconds: 1_795_255_200).rfc3339 == "2026-11-21T10:00:00Z")
        #expect(Timestamp(rfc3339: "2024-02-29T00:00:00Z")?.rfc3339 == "2024-02-29T00:00:00Z")
        #expect(Timestamp(seconds: -1_000_000_000_000, nanoseconds: 7).rfc3339 == nil)
    }

    @Test func mixedValuesComeBackAsTheyWent() throws {
        let id = try #require(ObjectId("0123456789abcdef01234567"))
        let values: [Mixed] = [
            .null, .bool(true), .int(.max), .int(.min), .double(1), .double(-0.0), .double(1e300), .float(1.5), .decimal("12.50"),
            .decimal("NaN"), .string("é"), .data(Data([0, 255])), .timestamp(Timestamp(seconds: -5, nanoseconds: 999_999_999)),
            .timestamp(Timestamp(seconds: 1_000_000_000_000, nanoseconds: 3)), .objectId(id), .uuid(UUID()),
            .link(Link(className: "A", key: "7")), .list([.int(1), .dictionary(["a": .double(1.5)])]), .dictionary(["x": .null]),
        ]
        for value in values {
            let json = try JSON(parsing: ValueEncoder.encode(value).bytes)
            #expect(Mixed(json) == value)
        }
        #expect(Mixed(.number("1")) == .int(1))
        #expect(Mixed(.number("1.0")) == .double(1))
        #expect(Mixed(.number("-0.0")) == .double(-0.0))
        let instant: JSON = ["$instant": ["seconds": "-2", "nanoseconds": -5]]
        #expect(Mixed(instant) == .timestamp(Timestamp(seconds: -3, nanoseconds: 999_999_995)))
    }

    struct All: RealmClass, Equatable {
        struct Inner: Codable, Sendable, Equatable { var at: Timestamp }
        enum Tier: String, Codable, Sendable { case gold, silver }

        var whole: Int64
        var small: Int?
        var half: Double
        var sum: Decimal128
        var foundation: Decimal
        var at: Timestamp
        var data: Data
        var uuid: UUID
        var id: ObjectId
        var link: Link?
        var inner: Inner?
        var sums: [String: Decimal128]
        var dates: [Timestamp?]
        var tier: Tier
    }

    @Test func typesDecideWhatTextMeans() throws {
        let text = #"""
            {"$meta":{"class":"All","key":"7","etag":"\"x~j1\""},"whole":9007199254740993,"small":null,"half":"-Infinity","sum":"12.50",
            "foundation":"1E+3","at":"2026-01-01T00:00:00.000000001Z","data":"AP8=","uuid":"bce5bc57-1eab-416f-a488-7764ac0b8b78",
            "id":"0123456789abcdef01234567","link":{"$link":{"class":"All","key":"8"}},"inner":{"at":"1970-01-01T00:00:00Z"},
            "sums":{"é":"0.10"},"dates":[null,"1970-01-01T00:00:01Z"],"tier":"gold"}
            """#
        let stored = try Stored<All>(json: JSON(parsing: text.utf8))
        #expect(stored.key == "7" && stored.etag == "\"x~j1\"")
        #expect(stored.whole == 9_007_199_254_740_993 && stored.small == nil && stored.half == -.infinity)
        #expect(
            stored.sum == "12.50" && stored.foundation == 1000 && stored.at == Timestamp(seconds: 1_767_225_600, nanoseconds: 1))
        #expect(stored.data == Data([0, 255]) && stored.value.link?.key == "8" && stored.inner?.at == Timestamp(seconds: 0))
        #expect(stored.sums == ["é": "0.10"] && stored.dates == [nil, Timestamp(seconds: 1)] && stored.tier == .gold)
        let again = try ValueDecoder.decode(All.self, from: ValueEncoder.encode(stored.value))
        #expect(again == stored.value)
    }

    @Test func onlyWhatDiffersIsWritten() throws {
        struct Dog: Codable { var name: String; var age: Int? }
        #expect(try differences(from: Dog(name: "a", age: 3), to: Dog(name: "a", age: nil)) == ["age": .null])
        #expect(try differences(from: Dog(name: "a", age: 3), to: Dog(name: "b", age: 3)) == ["name": "b"])
    }

    @Test func aWrongTypeNamesItsPlace() throws {
        struct Dog: Codable { var age: Int }
        #expect(throws: DecodingError.self) { try ValueDecoder.decode(Dog.self, from: ["age": "three"]) }
        #expect(throws: DecodingError.self) { try ValueDecoder.decode(Dog.self, from: [:]) }
        #expect(throws: DecodingError.self) { try ValueDecoder.decode(Int8.self, from: .number("300")) }
    }
}
