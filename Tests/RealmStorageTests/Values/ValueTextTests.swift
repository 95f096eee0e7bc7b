// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite("Text forms of values")
struct ValueTextTests {
    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z"), (0, 1, "1970-01-01T00:00:00.000000001Z"), (0, -1, "1969-12-31T23:59:59.999999999Z"),
            (-1, -500_000_000, "1969-12-31T23:59:58.5Z"), (1_795_255_200, 120_000_000, "2026-11-21T10:00:00.12Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"), (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
            (-62_135_596_800, 0, "0001-01-01T00:00:00Z"), (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        ] as [(Int64, Int32, String)])
    func `dates are written in UTC with the fraction digits they need`(_ seconds: Int64, _ nanoseconds: Int32, _ text: String) {
        let date = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(date.rfc3339 == text)
        #expect(Timestamp(rfc3339: text) == date)
    }

    @Test(
        arguments: [
            (-62_135_596_800, -1), (-62_135_596_801, 0), (253_402_300_800, 0), (.min, -999_999_999), (.max, 999_999_999),
        ] as [(Int64, Int32)])
    func `instants outside the years 0001 to 9999 have no text`(_ seconds: Int64, _ nanoseconds: Int32) {
        #expect(Timestamp(seconds: seconds, nanoseconds: nanoseconds).rfc3339 == nil)
    }

    @Test(arguments: [
        ("2024-02-29T23:30:00+01:30", "2024-02-29T22:00:00Z"), ("2024-02-29T23:30:00-01:30", "2024-03-01T01:00:00Z"),
        ("2024-01-01t00:00:00z", "2024-01-01T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"), ("2024-01-01T00:00:00.500+00:00", "2024-01-01T00:00:00.5Z"),
        ("1960-01-01T00:00:00.25-00:00", "1960-01-01T00:00:00.25Z"), ("0001-01-02T00:00:00+23:59", "0001-01-01T00:01:00Z"),
    ])
    func `any offset is read`(_ text: String, _ expected: String) throws {
        #expect(try #require(Timestamp(rfc3339: text)).rfc3339 == expected)
    }

    @Test(arguments: [
        "", "2024-01-01T", "2024-01-01Z", "2024-1-1", "2024-02-30",
        "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-01-01T00:00Z", "2024-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2016-12-31T23:59:60Z", "2024-01-01T00:00:00.Z",
        "2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00:00,5Z", "2024-01-01T00:00:00+1:00", "2024-01-01T00:00:00+24:00",
        "2024-01-01T00:00:00+01:60", "2024-01-01T00:00:00+0100", "2024-01-01T00:00:00ZZ", "0000-12-31T00:00:00Z",
        "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "+2024-01-01T00:00:00Z", "２024-01-01T00:00:00Z",
    ])
    func `other texts are no dates`(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    @Test func `calendar days follow each other through 1200 years and far beyond`() throws {
        var previous = CalendarDate(daysSinceEpoch: -300_000)
        for days in (-300_000 + 1)...150_000 as ClosedRange<Int64> {
            let date = CalendarDate(daysSinceEpoch: days)
            #expect(date.daysSinceEpoch == days)
            let follows =
                date.day == previous.day + 1
                ? date.month == previous.month && date.year == previous.year
                : date.day == 1 && (date.month == previous.month + 1 || date.month == 1 && date.year == previous.year + 1)
            guard follows else {
                Issue.record("\(date) after \(previous)")
                return
            }
            previous = date
        }
        #expect(Timestamp(seconds: .max, nanoseconds: 999_999_999).calendarDate.year == 292_277_026_596)
        #expect(Timestamp(seconds: .min, nanoseconds: -999_999_999).calendarDate.year == -292_277_022_657)
        let date = Timestamp(seconds: -1, nanoseconds: 0).calendarDate
        #expect((date.year, date.month, date.day) == (1969, 12, 31))
    }

    @Test func `object ids are 24 hex digits or 12 bytes`() throws {
        let id = try #require(ObjectID("507F1f77bcf86cd799439011"))
        #expect(id.description == "507f1f77bcf86cd799439011")
        #expect(id.bytes == [0x50, 0x7f, 0x1f, 0x77, 0xbc, 0xf8, 0x6c, 0xd7, 0x99, 0x43, 0x90, 0x11])
        let storage = ByteStorage(id.bytes)
        #expect(ObjectID(bytes: storage.view) == id)
        #expect(ObjectID(bytes: storage.view.suffix(from: 1)) == nil)
        for text in [
            "", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", "507f1f77bcf86cd79943901é",
        ] {
            #expect(ObjectID(text) == nil, "\(text)")
        }
    }

    @Test func `UUIDs are the canonical text or 16 bytes`() throws {
        let id = try #require(UUIDValue("123E4567-e89b-12d3-A456-426614174000"))
        #expect(id.description == "123e4567-e89b-12d3-a456-426614174000")
        #expect(id.bytes.count == 16 && id.bytes[0] == 0x12 && id.bytes[10] == 0x42)
        let storage = ByteStorage(id.bytes)
        #expect(UUIDValue(bytes: storage.view) == id)
        #expect(UUIDValue(bytes: storage.view.suffix(from: 1)) == nil)
        for text in [
            "", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a4564-26614174000",
            "{23e4567-e89b-12d3-a456-426614174000}", "123e4567-e89b-12d3-a456-42661417400g",
        ] {
            #expect(UUIDValue(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        (0, "0.0"), (-0.0, "-0.0"), (1, "1.0"), (-1, "-1.0"), (0.1, "0.1"), (0.3, "0.3"), (0.1 + 0.2, "0.30000000000000004"),
        (12.34, "12.34"), (0.001, "0.001"), (99.995, "99.995"), (1234567.0001, "1234567.0001"), (-0.05, "-0.05"),
        (999_999_999_999_999, "999999999999999.0"), (1e20, "1e+20"), (.leastNonzeroMagnitude, "5e-324"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.infinity, "Infinity"), (-.infinity, "-Infinity"),
        (.nan, "NaN"),
    ])
    func `doubles are written with the fewest digits that read back, and always as reals`(_ number: Double, _ expected: String) {
        var text: [UInt8] = []
        text.append(shortest: number)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }

    @Test(
        arguments: [
            (0, "0.0"), (-0.0, "-0.0"), (0.1, "0.1"), (16_777_216, "16777216.0"), (3.4028235e38, "3.4028235e+38"), (.nan, "NaN"),
        ] as [(Float, String)])
    func `floats are written with the fewest digits that read back as float`(_ number: Float, _ expected: String) {
        var text: [UInt8] = []
        text.append(shortest: number)
        #expect(String(decoding: text, as: UTF8.self) == expected)
    }

    @Test func `short doubles are written as the standard library does`() {
        var state: UInt64 = 42
        for _ in 0..<50_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let digits = Double(Int64(bitPattern: state) >> Int64(state >> 3 & 63))
            let number = digits / [1, 10, 100, 1000, 10_000, 100_000, 3][Int(state >> 9 % 7)]
            guard number.magnitude < 1e15, number.magnitude >= 0.001 || number == 0 else { continue }
            var text: [UInt8] = []
            text.append(shortest: number)
            guard String(decoding: text, as: UTF8.self) == number.description else {
                Issue.record("\(number) is written as \(String(decoding: text, as: UTF8.self))")
                return
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `doubles of all digits are written as the standard library does`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<(TestRun.isLong ? 1_000_000 : 40_000) {
            // All exponents from 0.0009 to beyond 10^15, and significands near those of few bits or few digits.
            let exponent = UInt64(1012 + Int.random(in: 0...62, using: &random))
            var significand = UInt64.random(in: 0..<(1 << 52), using: &random)
            switch round % 4 {
            case 0: significand &= .max << UInt64.random(in: 0...52, using: &random)
            case 1: significand = (significand % 3 &- 1) & ((1 << 52) - 1)
            default: break
            }
            var number = Double(bitPattern: exponent << 52 | significand)
            if round % 4 == 2 {
                let units: [Double] = [10, 1e3, 1e6, 1e9, 1e12]
                let unit = units.randomElement(using: &random) ?? 1
                number = (number * unit).rounded() / unit
                let neighbours: [Double] = [number, number.nextUp, number.nextDown]
                number = neighbours.randomElement(using: &random) ?? number
            }
            var text: [UInt8] = []
            text.append(shortest: -number)
            guard String(decoding: text, as: UTF8.self) == (-number).description else {
                Issue.record("seed \(seed): \(-number) is written as \(String(decoding: text, as: UTF8.self))")
                return
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `short decimals are written as all others are`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let digits = UInt64.random(in: 0 ... .max, using: &random) >> UInt64.random(in: 0...63, using: &random)
            let exponent = Int.random(in: -25...3, using: &random)
            let number = Decimal128(isNegative: .random(using: &random), coefficient: UInt128(digits), exponent: exponent)
            var expected: [UInt8] = []
            number.append(to: &expected)
            let text = String(capacity: Decimal128.shortByteCount) { number.writeShort(to: $0) ?? 0 }
            guard text.isEmpty || Array(text.utf8) == expected else {
                Issue.record("seed \(seed): \(String(decoding: expected, as: UTF8.self)) is written as \(text)")
                return
            }
            let isOther = exponent > 0 || exponent < -19 || expected.contains(UInt8(ascii: "E"))
            #expect(text.isEmpty == isOther, "seed \(seed): \(number)")
        }
    }

    @Test(arguments: [0, 9, 10, 99, 100, 12345, -1, .max, .min] as [Int64])
    func `whole numbers of every length`(_ number: Int64) {
        var text: [UInt8] = []
        text.append(digitsOf: number)
        #expect(String(decoding: text, as: UTF8.self) == String(number))
    }

    @Test(arguments: [0, 1 << 64, UInt128(UInt64.max), 10_000_000_000_000_000_000, 100_000_000_000_000_000_000])
    func `128-bit numbers`(_ number: UInt128) {
        var text: [UInt8] = []
        text.append(digitsOf: number)
        #expect(String(decoding: text, as: UTF8.self) == String(number))
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
        ("??>", "Pz8+"), ("\u{ff}\u{bf}", "w7/Cvw=="),
    ])
    func `base64 in both directions`(_ plain: String, _ coded: String) {
        let bytes = ByteStorage(plain)
        let text = ByteStorage(coded)
        var appended: [UInt8] = []
        Base64.append(bytes.view, to: &appended)
        #expect(String(decoding: appended, as: UTF8.self) == coded)
        #expect(Base64.decode(text.view) == Array(plain.utf8))
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm9-", "Zm9_", "Zg==Zg==", "=Zg=",
        "Zm9vé",
    ])
    func `malformed base64 is refused`(_ text: String) {
        let storage = ByteStorage(text)
        #expect(Base64.decode(storage.view) == nil)
    }
}
