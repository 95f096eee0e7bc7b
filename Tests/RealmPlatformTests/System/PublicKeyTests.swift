// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RealmPlatform
import RealmStorage
import Synchronization
import Testing

/// Signatures and the keys that verify them: numbers that are no key are refused, and so is every other form of a signature.
@Suite struct PublicKeyTests {
    private let cases: [SignatureVectors.Case]
    private var good: [SignatureVectors.Case] { cases.filter(\.isGood) }

    init() throws { cases = try SignatureVectors.kept.get() }

    @Test func `signatures of Wycheproof and of the RFCs are told apart`() {
        #expect(cases.count == 852 && good.count == 309)
        for one in cases { #expect(one.key.verifies(one.signature, of: one.message) == one.isGood, "\(one.comment)") }
    }

    // MARK: - Signatures

    @Test func `a good signature is refused when a bit of it or of what was signed is another`() {
        for (number, one) in good.enumerated() {
            var signature = one.signature
            let bit = number * 97 % (8 * signature.count)
            signature[bit / 8] ^= 1 << (bit % 8)
            #expect(one.key.verifies(signature, of: one.message) == false, "bit \(bit): \(one.comment)")
            #expect(one.key.verifies(one.signature, of: one.message + [0]) == false, "\(one.comment)")
            guard !one.message.isEmpty else { continue }
            var message = one.message
            message[number % message.count] ^= 0x80
            #expect(one.key.verifies(one.signature, of: message) == false, "\(one.comment)")
        }
    }

    @Test func `a signature has one length`() {
        for one in good {
            let signature = one.signature
            for other in [[], Array(signature.dropLast()), Array(signature.dropFirst()), signature + [0], [0] + signature] {
                #expect(one.key.verifies(other, of: one.message) == false, "\(other.count) bytes: \(one.comment)")
            }
        }
    }

    /// Writes a number as DER, as other libraries write signatures on curves.
    private func der(_ number: ArraySlice<UInt8>) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        let contents = (digits.first ?? 0xFF) >= 0x80 ? [0] + digits : digits
        return [2, UInt8(contents.count)] + contents
    }

    @Test func `a signature on P-256 as DER is refused, and so are r and s of zero, of the order, and in other lengths`() throws {
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let zero = [UInt8](repeating: 0, count: 32)
        let example = try #require(cases.first { $0.comment.hasPrefix("RFC 7515, A.3") })
        let (r, s) = (Array(example.signature[..<32]), Array(example.signature[32...]))
        #expect(example.key.verifies(r + s, of: example.message) == true)
        let contents = der(r[...]) + der(s[...])
        let others = [
            [0x30, UInt8(contents.count)] + contents, zero + s, r + zero, zero + zero, order + s, r + order, order + order, s + r,
            [0] + r + [0] + s, r + [0] + s, zero + r + zero + s, Array(r[1...]) + Array(s[1...]),
        ]
        for other in others { #expect(example.key.verifies(other, of: example.message) == false, "\(other)") }
    }

    @Test func `one key verifies on several threads at a time`() throws {
        for comment in ["RFC 7515, A.2", "RFC 7515, A.3", "RFC 8037, A.4"] {
            let example = try #require(cases.first { $0.comment.hasPrefix(comment) })
            let key = try #require(PublicKey(try SignatureVectors.numbers(comment)))
            let counts = Mutex([0, 0])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                for _ in 0..<50 {
                    let isRight = key.verifies(example.signature, of: example.message)
                    let isWrong = key.verifies(example.signature, of: example.message + [0])
                    counts.withLock {
                        if isRight { $0[0] += 1 }; if isWrong { $0[1] += 1 }
                    }
                }
            }
            #expect(counts.withLock { $0 } == [400, 0], "\(comment)")
        }
    }

    // MARK: - Keys

    /// A number of some bits with the first and the last one set, big-endian.
    private func number(bits: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0x55, count: (bits + 7) / 8)
        bytes[0] = 1 << UInt8((bits - 1) % 8)
        bytes[bytes.count - 1] |= 1
        return bytes
    }

    @Test(arguments: [(2047, false), (2048, true), (2049, true), (8192, true), (8193, false), (16384, false), (1 << 20, false)])
    func `a modulus has 2048 to 8192 bits`(bits: Int, isUsed: Bool) {
        let modulus = number(bits: bits)
        for zeros in [0, 1, 9] {
            let key = PublicKey(.rsa(modulus: [UInt8](repeating: 0, count: zeros) + modulus, exponent: [1, 0, 1]))
            #expect((key != nil) == isUsed, "\(bits) bits")
            #expect(key?.verifies([UInt8](repeating: 0, count: modulus.count), of: [1]) != true)
        }
        #expect(PublicKey(.rsa(modulus: modulus.dropLast() + [0x54], exponent: [1, 0, 1])) == nil, "an even modulus")
    }

    @Test(
        arguments: [
            ([3], true), ([0, 0, 3], true), ([1, 0, 1], true), ([0xFF, 0xFF, 0xFF, 0xFF], true), ([], false), ([0], false),
            ([1], false),
            ([0, 1], false), ([2], false), ([1, 0, 0], false), ([1, 0, 0, 0, 1], false),
            ([UInt8](repeating: 0xFF, count: 256), false),
        ] as [([UInt8], Bool)])
    func `an exponent is odd, from 3 on, with at most 32 bits`(exponent: [UInt8], isUsed: Bool) {
        #expect((PublicKey(.rsa(modulus: number(bits: 2048), exponent: exponent)) != nil) == isUsed, "\(exponent)")
        #expect(PublicKey(.rsa(modulus: [], exponent: exponent)) == nil)
    }

    @Test func `a point is on P-256, in its only form`() throws {
        guard case .p256(let x, let y) = try SignatureVectors.numbers("RFC 7515, A.3") else { return #expect(Bool(false)) }
        #expect(PublicKey(.p256(x: x, y: y)) != nil)
        let zero = [UInt8](repeating: 0, count: 32)
        // The curve has a point with x of zero, so x could be the prime of the field too.
        let prime = [UInt8](repeating: 0xFF, count: 4) + [0, 0, 0, 1] + zero[..<12] + [UInt8](repeating: 0xFF, count: 12)
        let root = try #require(Base64.decode("ZkhceA4vg9ckM71dhKBrtlQcKvMdrocXKL-FahdPk_Q", .url))
        #expect(PublicKey(.p256(x: zero, y: root)) != nil && PublicKey(.p256(x: prime, y: root)) == nil)
        var off = y
        off[31] ^= 1
        let others = [
            (x, off), (off, x), (y, x), (x, x), (zero, zero), (x, zero), (prime, prime), (x, Array(y[1...])), ([0] + x, y),
            (x, [0] + y),
            (x + x, y + y), ([], []), (x, []),
        ]
        for (x, y) in others { #expect(PublicKey(.p256(x: x, y: y)) == nil, "\(x), \(y)") }
    }

    @Test func `a point on Ed25519 has 32 bytes, and one off the curve verifies nothing`() throws {
        let example = try #require(cases.first { $0.comment.hasPrefix("RFC 8037") })
        guard case .ed25519(let point) = try SignatureVectors.numbers("RFC 8037") else { return #expect(Bool(false)) }
        for other in [[], Array(point.dropLast()), point + [0], [0] + point, point + point] {
            #expect(PublicKey(.ed25519(other)) == nil, "\(other.count) bytes")
        }
        for y: UInt8 in [2, 7, 8, 11, 12, 13, 17] {
            let key = PublicKey(.ed25519([y] + [UInt8](repeating: 0, count: 31)))
            #expect(key?.verifies(example.signature, of: example.message) != true)
            #expect(key?.verifies([UInt8](repeating: 0, count: 64), of: []) != true)
        }
    }

    /// An issuer that published such a key could be imitated: the neutral point with a zero was a signature of everything.
    @Test func `a key on Ed25519 of small order, or in a second form, is refused`() throws {
        func point(_ y: [UInt8], _ sign: UInt8) -> [UInt8] { y.dropLast() + [y[31] | sign << 7] }
        /// A little-endian number that begins with a byte and goes on with equal ones.
        func number(_ first: UInt8, _ rest: UInt8) -> [UInt8] { [first] + [UInt8](repeating: rest, count: 30) + [rest & 0x7F] }
        let eighth = try #require(Base64.decode("JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU", .url))
        let otherEighth = try #require(Base64.decode("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o", .url))
        // 0, 1 and -1, which the prime added to the first two would be as well.
        let small = [number(0, 0), number(1, 0), number(0xEC, 0xFF), eighth, otherEighth]
        // The prime is 2^255 - 19, so 19 numbers have a second form.
        let second = (0..<19).map { number(0xED + UInt8($0), 0xFF) }
        let neutral = number(1, 0) + number(0, 0)
        for y in small + second {
            for sign: UInt8 in [0, 1] {
                let key = PublicKey(.ed25519(point(y, sign)))
                #expect(key == nil, "\(y), \(sign)")
                for message in 0..<8 as Range<UInt8> { #expect(key?.verifies(neutral, of: [message]) != true, "\(y), \(sign)") }
            }
        }
        // The greatest number of a point in its first form, and neighbours of small ones.
        for y in [number(0xEA, 0xFF), number(3, 0), [eighth[0] + 2] + eighth.dropFirst()] {
            #expect(PublicKey(.ed25519(point(y, 0))) != nil && PublicKey(.ed25519(point(y, 1))) != nil, "\(y)")
        }
    }

    /// In a process of its own, which has not used the library before.
    @Test func `an algorithm that the library lacks is named`() async throws {
        #expect(
            PublicKey.missingAlgorithm(for: .rsa(modulus: [], exponent: [])) == nil, "numbers that are no key are another thing")
        await #expect(processExitsWith: .success) {
            let path = NSTemporaryDirectory() + "realm-rest-\(UUID().uuidString).cnf"
            defer { try? FileManager.default.removeItem(atPath: path) }
            // This provider reads and writes keys, and does nothing with them.
            let text = "openssl_conf = a\n[a]\nproviders = b\n[b]\nbase = c\n[c]\nactivate = 1\n"
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            _ = unsafe setenv("OPENSSL_CONF", path, 1)
            for (comment, name) in [("RFC 7515, A.2", "RSA"), ("RFC 7515, A.3", "EC"), ("RFC 8037, A.4", "ED25519")] {
                let numbers = try SignatureVectors.numbers(comment)
                precondition(PublicKey(numbers) == nil && PublicKey.missingAlgorithm(for: numbers) == name, "\(comment)")
            }
        }
    }

    /// In a process of its own, whose memory nothing else changes.
    @Test func `keys that were made and refused leave no memory behind`() async {
        await #expect(processExitsWith: .success) {
            let cases = try SignatureVectors.kept.get()
            func make(_ count: Int) {
                for round in 0..<count {
                    let one = cases[round * 7 % cases.count]
                    guard case .published(let numbers) = one.key else { continue }
                    _ = PublicKey(numbers)?.verifies(one.signature, of: one.message)
                    let off = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 32)
                    precondition(PublicKey(.p256(x: off, y: off)) == nil)
                    _ = PublicKey(.ed25519(off))
                }
            }
            func residentPages() throws -> Int {
                let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
                return Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
            }
            make(500)
            let before = try residentPages()
            make(2000)
            // A key that is not freed takes more than a kilobyte.
            let grown = try residentPages() - before
            precondition(grown < 128, "\(grown) pages")
        }
    }
}
