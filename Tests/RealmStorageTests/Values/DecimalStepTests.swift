// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// Floors and remainders of decimals by whole steps.
@Suite struct DecimalStepTests {
    @Test(
        arguments: [
            ("12.50", 10, "10", "2.5"), ("-12.50", 10, "-20", "7.5"), ("0", 7, "0", "0"), ("-0.0", 7, "0", "0"),
            ("20", 10, "20", "0"),
            ("-20.00", 10, "-20", "0"), ("9.999", 3, "9", "0.999"), ("0.5", 1, "0", "0.5"), ("-0.5", 1, "-1", "0.5"),
            ("1E+3", 7, "994", "6"), ("1E+30", 7, "999999999999999999999999999999", "1"),
            ("1E-40", 5, "0", "1E-40"),
            ("12345678901234567890.25", 9_223_372_036_854_775_807, "9223372036854775807", "3122306864379792083.25"),
            ("9999999999999999999999999999999999", 10, "9999999999999999999999999999999990", "9"),
        ] as [(String, Int64, String, String)])
    func `known steps`(_ text: String, _ step: Int64, _ floor: String, _ remainder: String) throws {
        let number = try #require(Decimal128(text))
        #expect(number.floor(toMultipleOf: step).description == floor)
        #expect(number.remainder(dividingBy: step).description == remainder)
    }

    @Test func `equal numbers give the same text`() throws {
        let forms = try ["1000", "1E+3", "1000.000", "10.00E+2"].map { try #require(Decimal128($0)) }
        #expect(Set(forms.map { $0.floor(toMultipleOf: 300).description }) == ["900"])
        #expect(Set(forms.map { $0.remainder(dividingBy: 300).description }) == ["100"])
    }

    @Test func `what is not finite stays`() {
        #expect(Decimal128.infinity.floor(toMultipleOf: 3).description == "Infinity")
        #expect(Decimal128.negativeInfinity.remainder(dividingBy: 3).isNaN)
        #expect(Decimal128.notANumber.floor(toMultipleOf: 3).isNaN)
    }

    @Test func `floor and remainder make the number, for extreme exponents too`() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let digits = Int64.random(in: -999_999_999_999...999_999_999_999, using: &generator)
            let exponent = Int.random(in: -9...6, using: &generator)
            let step = Int64.random(in: 1...1_000_000, using: &generator)
            let number = try #require(Decimal128("\(digits)E\(exponent)"))
            let rest = number.remainder(dividingBy: step)
            let floor = number.floor(toMultipleOf: step)
            #expect((floor + rest).isEqual(to: number), "seed 11: \(number) by \(step): \(floor) and \(rest)")
            #expect(!rest.isNegative && rest.compare(Decimal128(step)) < 0, "\(number) by \(step): \(rest)")
            #expect(floor.remainder(dividingBy: step).isZero, "\(number) by \(step): \(floor)")
        }
        for exponent in [-6176, 6111, -35, -38, -39, 39] {
            let number = try #require(Decimal128("7E\(exponent)"))
            for step in [1, 3, Int64.max] { #expect(number.remainder(dividingBy: step).isFinite, "7E\(exponent) by \(step)") }
        }
    }
}
