// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmAccess
import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

/// The form of keys, and what is stored of them.
@Suite struct APIKeyTests {
    private func isKey(_ text: String) -> Bool {
        if case .key = APIKeyText.read(Array(text.utf8)) { return true }
        return false
    }

    private func isMistyped(_ text: String) -> Bool {
        if case .mistyped = APIKeyText.read(Array(text.utf8)) { return true }
        return false
    }

    @Test func `a key has its form, and no two are alike`() {
        var seen: Set<String> = []
        for _ in 0..<500 {
            let key = APIKeyText()
            #expect(key.text.utf8.count == 56 && key.text.hasPrefix("rr_" + key.id + "_"))
            #expect(key.text.dropFirst(12).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
            #expect(isKey(key.text))
            #expect(key.digest.count == 32)
            seen.insert(key.text)
        }
        #expect(seen.count == 500)
    }

    @Test func `every wrong character and nearly every exchange of neighbours is noticed`() {
        let alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        let text = Array(APIKeyText().text)
        for index in 3..<text.count where index != 11 {
            for other in alphabet where other != text[index] {
                var wrong = text
                wrong[index] = other
                #expect(isMistyped(String(wrong)), "\(String(text)) \(String(wrong))")
            }
        }
        var missed = 0
        var tried = 0
        for _ in 0..<200 {
            let text = Array(APIKeyText().text)
            for index in 12..<text.count - 1 where text[index] != text[index + 1] {
                var wrong = text
                wrong.swapAt(index, index + 1)
                tried += 1
                if isKey(String(wrong)) { missed += 1 }
            }
        }
        #expect(missed * 50 < tried, "\(missed) of \(tried)")
    }

    @Test func `what is cut off, longer or otherwise spoiled is mistyped, and what does not begin so is no key`() {
        let text = APIKeyText().text
        for wrong in [
            String(text.dropLast()), text + "a", "rr_", "rr_x", text.replacing("_", with: "-", maxReplacements: 0) + " ",
        ] {
            #expect(isMistyped(wrong), "\(wrong)")
        }
        for other in ["", "rr", "RR_" + text.dropFirst(3), "eyJhbGciOiJub25lIn0.e30.", " " + text] {
            #expect(!isKey(other) && !isMistyped(other), "\(other)")
        }
        #expect(isMistyped(text.replacing(text.dropFirst(12).prefix(3), with: "é1")))
    }

    @Test func `a new secret has the same id and another digest`() {
        let first = APIKeyText()
        let second = APIKeyText(id: first.id)
        #expect(second.id == first.id && second.digest != first.digest && isKey(second.text))
    }

    @Test func `digests are compared over their whole length`() {
        let digest = SecretDigest.sha256(Array("a".utf8))
        #expect(FileDigest.hex(digest) == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
        #expect(SecretDigest.areEqual(digest, digest))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!SecretDigest.areEqual(digest, other))
        }
        #expect(!SecretDigest.areEqual(digest, Array(digest.dropLast())))
        #expect(!SecretDigest.areEqual(digest, []))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.168.1.128/25", "192.168.1.127", false),
        ("192.168.1.128/25", "192.168.1.255", true), ("0.0.0.0/0", "8.8.8.8", true), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("2001:db8::/32", "2001:db8:1::1", true), ("2001:db8::/32", "2001:db9::1", false),
        ("::1", "::1", true), ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.0/104", "10.1.1.1", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "10.0.0.1", false), ("fe80::/10", "fe80::1", true),
    ])
    func `a network has the addresses of its prefix`(_ range: String, _ address: String, _ isIn: Bool) throws {
        let network = try #require(AddressRange(range))
        #expect(network.contains(try #require(NetworkAddress(address))) == isIn)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "::/129", "10.0.0.0/8/8", "10.0.0.0/", "host", "10.0.0.0/ 8", "/8",
    ])
    func `what is no network is none`(_ text: String) { #expect(AddressRange(text) == nil) }
}
