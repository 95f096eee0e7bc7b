// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import Testing

@Suite("Decimal128")
struct Decimal128Tests {
    @Test(arguments: decimalVectors.split(separator: "\n"))
    func `reading, writing, arithmetic and comparison agree with General Decimal Arithmetic`(_ line: Substring) throws {
        let fields = line.split(separator: "|").map(String.init)
        let left = try #require(Decimal128.parse(fields[0]))
        let right = try #require(Decimal128.parse(fields[3])).value
        #expect(left.value.description == fields[1])
        #expect(left.isExact == (fields[2] == "1"))
        #expect((left.value + right).description == fields[4])
        #expect((left.value - right).description == fields[5])
        #expect((left.value * right).description == fields[6])
        #expect((left.value / right).description == fields[7])
        #expect(left.value.compare(right).signum() == Int(fields[8]))
        #expect(right.compare(left.value).signum() == Int(fields[8]).map(-))
        #expect(left.value.truncatedInt64 == Int64(fields[9]))
        #expect(left.value.doubleValue.bitPattern == UInt64(fields[10], radix: 16))
        #expect(Decimal128(fields[1]) == left.value, "the text keeps every bit")
    }

    @Test(arguments: [
        "0", "-0", "0.00", "-0.00", "0E+3", "0E-7", "0.000000", "1", "1.00", "12.50", "1E+3", "1.2E+4", "-1.5E-7",
        "0.000001", "1E-7", "1.000E-10", "123456789012345678901234567890.1234", "9.999999999999999999999999999999999E+6144",
        "1E-6176", "-1E-6176", "NaN", "Infinity", "-Infinity",
    ])
    func `text keeps exponent, sign of zero and trailing zeros`(_ text: String) throws {
        #expect(try #require(Decimal128(text)).description == text)
    }

    @Test(arguments: [
        ("+1.50", "1.50"), ("1e3", "1E+3"), ("1.e1", "1E+1"), (".5", "0.5"), ("5.", "5"), ("007", "7"), ("-inf", "-Infinity"),
        ("+Infinity", "Infinity"), ("nan", "NaN"), ("-NaN", "NaN"), ("0e9999", "0E+6111"),
        ("0e-99999999999999999999", "0E-6176"),
        ("00000000000000000000000000000000000000000000000001.5", "1.5"), ("10E6111", "1.0E+6112"),
    ])
    func `other spellings are read`(_ text: String, _ expected: String) throws {
        let parsed = try #require(Decimal128.parse(text))
        #expect(parsed.value.description == expected)
        #expect(parsed.isExact)
    }

    @Test(arguments: [
        "", " ", "-", "+", ".", "e5", ".e5", "1e", "1e+", "1.2.3", "1 ", " 1", "0x10", "1f", "--1", "+-1", "1e1.5", "infinit",
        "nan1", "NaNs", "1\u{0}", "１",
    ])
    func `text that is no number as a whole is refused`(_ text: String) { #expect(Decimal128.parse(text) == nil) }

    @Test(arguments: [
        ("1E+6145", "Infinity"), ("-1E+999999999999999999999", "-Infinity"), ("1E-6177", "0E-6176"),
        ("12345678901234567890123456789012345", "1.234567890123456789012345678901234E+34"),
        ("12345678901234567890123456789012355", "1.234567890123456789012345678901236E+34"),
        ("123456789012345678901234567890123450000001", "1.234567890123456789012345678901235E+41"),
        ("99999999999999999999999999999999995", "1.000000000000000000000000000000000E+35"),
        ("1.5E-6176", "2E-6176"), ("2.5E-6176", "2E-6176"), ("2.50000000000000000000000000000000001E-6176", "3E-6176"),
    ])
    func `numbers that do not fit are marked as inexact`(_ text: String, _ rounded: String) throws {
        let parsed = try #require(Decimal128.parse(text))
        #expect(!parsed.isExact)
        #expect(parsed.value.description == rounded)
    }

    @Test(arguments: [
        (0.1, "0.100000000000000"), (0.5, "0.5"), (100, "100"), (-2.25, "-2.25"), (1e23, "1.00000000000000E+23"),
        (9.999999999999999e22, "1.00000000000000E+23"), (9_007_199_254_740_992, "9.00719925474099E+15"), (-0.0, "-0"),
        (.infinity, "Infinity"), (-.infinity, "-Infinity"), (.nan, "NaN"), (.leastNonzeroMagnitude, "4.94065645841247E-324"),
    ])
    func `a double counts with 15 digits, a float with 7`(_ number: Double, _ expected: String) {
        #expect(Decimal128(number).description == expected)
    }

    @Test(arguments: [
        (Float(0.1), "0.1000000"), (1.5, "1.5"), (16_777_216, "1.677722E+7"), (3.4028235e38, "3.402823E+38"), (.nan, "NaN"),
    ])
    func `floats are rounded to 7 digits`(_ number: Float, _ expected: String) {
        #expect(Decimal128(number).description == expected)
    }

    @Test(arguments: [0, 1, -1, 10, .max, .min, 1 << 53 + 1] as [Int64])
    func `integers convert exactly in both directions`(_ number: Int64) {
        let decimal = Decimal128(number)
        #expect(decimal.description == String(number))
        #expect(decimal.truncatedInt64 == number)
        #expect(decimal.exactInt64 == number)
    }

    @Test(
        arguments: [
            ("2.50", 2), ("-2.99", -2), ("-0.5", 0), ("9223372036854775807.9", .max), ("9223372036854775808", nil),
            ("-9223372036854775808.9", .min), ("-9223372036854775809", nil), ("1E+19", nil), ("9E+18", 9_000_000_000_000_000_000),
            ("0E+6000", 0), ("1E-6176", 0), ("Infinity", nil), ("NaN", nil), ("9E+6144", nil),
            ("9999999999999999999999999999999999E-33", 9),
        ] as [(String, Int64?)])
    func `truncation goes toward zero and stops at 64 bits`(_ text: String, _ expected: Int64?) throws {
        #expect(try #require(Decimal128(text)).truncatedInt64 == expected)
    }

    @Test func `the order is total: NaN first, then by value`() throws {
        let ascending: [[Decimal128]] = [
            [.notANumber], [.null], [Decimal128(low: 0, high: 0xfc00_0000_0000_0000)], [.negativeInfinity],
            try numbers("-9E+6144", "-9000000000000000000E+6126"), try numbers("-1E+34"), try numbers("-1.5", "-1.500"),
            try numbers("-1E-6176"), try numbers("0", "-0", "0E+100", "-0E-100"), try numbers("1E-6176"),
            try numbers("0.1", "0.10"),
            try numbers("1", "1.000000000000000000000000000000000", "10E-1"), try numbers("1.000000000000000000000000000000001"),
            try numbers("1E+3", "1000"), [.infinity],
        ]
        for (rank, group) in ascending.enumerated() {
            for (otherRank, others) in ascending.enumerated() {
                for left in group {
                    for right in others {
                        #expect(left.compare(right).signum() == (rank - otherRank).signum(), "\(left) \(right)")
                        if rank == otherRank { #expect(hash(left) == hash(right), "\(left) \(right)") }
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            (0x3280_0001, 4, "1"), (0xb280_0001, 4, "-1"), (0x7800_0000, 4, "Infinity"), (0xf800_0000, 4, "-Infinity"),
            (0x7c00_0000, 4, "NaN"), (0x6ca0_0000 | 0x1000, 4, "8392704"), (0x6cbf_ffff, 4, "0"), (0x3180_04e2, 4, "12.50"),
            (0x31c0_0000_0000_0001, 8, "1"), (0x31c0_0000_0000_0001 | 1 << 63, 8, "-1"), (0x7800_0000_0000_0000, 8, "Infinity"),
            (0x7c00_0000_0000_0000, 8, "NaN"), (0x6c70_0000_0000_0001, 8, "9007199254740993"), (0x6c77_ffff_ffff_ffff, 8, "0"),
        ] as [(UInt64, Int, String)])
    func `stored short forms widen exactly`(_ bits: UInt64, _ byteCount: Int, _ expected: String) {
        let number = byteCount == 4 ? Decimal128(stored32: UInt32(bits)) : Decimal128(stored64: bits)
        #expect(number.description == expected)
    }

    @Test(arguments: [
        ("8388607", true, true), ("8388608", false, true), ("9007199254740991", false, true),
        ("9007199254740992", false, false),
        ("1E+90", true, true), ("1E+91", false, true), ("1E-101", true, true), ("1E-102", false, true),
        ("1E+369", false, true),
        ("1E+370", false, false), ("-0.00", true, true), ("Infinity", false, false), ("NaN", false, false),
    ])
    func `short forms are chosen exactly when they hold the number`(_ text: String, _ fits32: Bool, _ fits64: Bool) throws {
        let number = try #require(Decimal128(text))
        #expect((number.stored32 != nil) == fits32)
        #expect((number.stored64 != nil) == fits64)
        if let bits = number.stored32 { #expect(Decimal128(stored32: bits) == number) }
        if let bits = number.stored64 { #expect(Decimal128(stored64: bits) == number) }
    }

    @Test func `a coefficient of more than 34 digits reads as zero`() {
        let tooBig = Decimal128(low: 0x378d_8e64_0000_0000, high: 0x3040_0000_0000_0000 | 0x1_ed09_bead_87c0)
        let large = Decimal128(low: 5, high: 0x6c10_0000_0000_0000)
        for number in [tooBig, large] {
            #expect(number.isZero)
            #expect(number.compare(.zero) == 0)
            #expect(number.truncatedInt64 == 0)
            #expect(number.description.hasPrefix("0"))
            #expect(hash(number) == hash(.zero))
            #expect((number + Decimal128(1)).compare(Decimal128(1)) == 0)
        }
    }

    @Test func `division by zero is infinite or NaN`() {
        #expect((Decimal128(1) / .zero).description == "Infinity")
        #expect((Decimal128(-1) / .zero).description == "-Infinity")
        #expect((Decimal128.zero / .zero).isNaN)
    }

    private func numbers(_ texts: String...) throws -> [Decimal128] {
        try texts.map { try #require(Decimal128($0)) }
    }

    private func hash(_ number: Decimal128) -> Int {
        var hasher = Hasher()
        number.hashNumerically(into: &hasher)
        return hasher.finalize()
    }
}
