// SPDX-License-Identifier: Apache-2.0

@testable import RealmFormats
import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@Suite struct OutputBufferTests {
    private func text(_ write: (OutputBuffer) -> Void) -> String {
        let buffer = OutputBuffer()
        write(buffer)
        return buffer.text
    }

    @Test func `writes every length of decimal`() {
        var number: Int64 = 1
        for _ in 0..<19 {
            for value in [number - 1, number, number + 1, -number, -number - 1] {
                #expect(text { $0.append(decimal: value) } == String(value))
            }
            number = number.multipliedReportingOverflow(by: 10).partialValue
        }
        for value in [Int64.max, .min, 0, -1, -9, -10, 99, 100] { #expect(text { $0.append(decimal: value) } == String(value)) }
    }

    @Test func `escapes what JSON demands and nothing else`() {
        #expect(text { $0.append(jsonString: "plain") } == "\"plain\"")
        #expect(text { $0.append(jsonString: "") } == "\"\"")
        #expect(text { $0.append(jsonString: "a\"b\\c/d\n\r\t\u{8}\u{c}\u{1}é😀") } == "\"a\\\"b\\\\c/d\\n\\r\\t\\b\\f\\u0001é😀\"")
        let long = String(repeating: "0123456789abcdef", count: 100)
        #expect(text { $0.append(jsonString: long + "\"" + long) } == "\"\(long)\\\"\(long)\"")
    }

    @Test func `a text that is escaped in parts is the same as in one`() throws {
        let bytes = Array("a\"\u{1}é😀\\\u{1f}plain text that is longer than a word\n".utf8)
        let storage = ByteStorage(bytes)
        let whole = text { _ = $0.append(jsonString: storage.view) }
        for length in 1...bytes.count + 1 {
            let parts = text { buffer in
                buffer.append(UInt8(ascii: "\""))
                for start in stride(from: 0, to: bytes.count, by: length) {
                    buffer.append(escaped: storage.view.slice(start, start + length))
                }
                buffer.append(UInt8(ascii: "\""))
            }
            #expect(parts == whole, "parts of \(length) bytes")
        }
    }

    @Test(arguments: [0, 1, 1 << 20, (1 << 20) + 1, 5 << 19])
    func `long contents are passed on in pieces`(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let buffer = OutputBuffer()
        buffer.append(bytes)
        var pieces: [[UInt8]] = []
        buffer.forEachPiece { pieces.append($0) }
        #expect(pieces.flatMap(\.self) == bytes)
        #expect(pieces.count == max(1, (count + (1 << 20) - 1) >> 20) && pieces.allSatisfy { $0.count <= 1 << 20 })
    }

    @Test func `every control character at every offset is escaped`() throws {
        for byte in UInt8(0)..<0x20 {
            for offset in 0..<18 {
                let bytes = [UInt8](repeating: 0x61, count: offset) + [byte] + [UInt8](repeating: 0x62, count: 17)
                let storage = ByteStorage(bytes)
                let json = text { _ = $0.append(jsonString: storage.view) }
                #expect(try JSONParser.parse(json, depthLimit: 4) == .string(String(decoding: bytes, as: UTF8.self)))
            }
        }
    }

    @Test(
        arguments: [
            [0x80], [0xff], [0xc0, 0x80], [0xc1, 0xbf], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf],
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82], [0x61, 0xc3], [0xe2, 0x28, 0xa1],
        ] as [[UInt8]])
    func `refuses text that is not UTF-8 and writes nothing`(_ bytes: [UInt8]) {
        let buffer = OutputBuffer()
        buffer.append("before" as StaticString)
        let storage = ByteStorage([UInt8](repeating: 0x61, count: 20) + bytes)
        #expect(!buffer.append(jsonString: storage.view))
        #expect(buffer.text == "before")
    }

    @Test func `random text comes back through the parser`() throws {
        var generator = SeededGenerator(seed: 7)
        for round in 0..<300 {
            let scalars = (0..<Int.random(in: 0...40, using: &generator)).map { _ -> Unicode.Scalar in
                let range: ClosedRange<UInt32> =
                    [0...0x7f, 0x80...0x7ff, 0x800...0xd7ff, 0x1_0000...0x10_ffff]
                    .randomElement(using: &generator) ?? 0...0x7f
                return Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "a"
            }
            let string = String(String.UnicodeScalarView(scalars))
            let storage = ByteStorage(string)
            let json = text { _ = $0.append(jsonString: storage.view) }
            #expect(try JSONParser.parse(json, depthLimit: 4) == .string(string), "seed 7, round \(round)")
        }
    }

    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z"), (1, 0, "1970-01-01T00:00:01Z"), (-1, 0, "1969-12-31T23:59:59Z"),
            (0, -500_000_000, "1969-12-31T23:59:59.5Z"), (0, 1, "1970-01-01T00:00:00.000000001Z"),
            (951_782_400, 120_000_000, "2000-02-29T00:00:00.12Z"),
            (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (-62_135_596_800, 0, "0001-01-01T00:00:00Z"), (-86_400, -1, "1969-12-30T23:59:59.999999999Z"),
        ] as [(Int64, Int32, String)])
    func `writes dates`(_ seconds: Int64, _ nanoseconds: Int32, _ expected: String) {
        #expect(text { _ = $0.append(rfc3339: Timestamp(seconds: seconds, nanoseconds: nanoseconds)) } == expected)
    }

    @Test func `leaves dates outside years 1 to 9999 to the caller`() {
        for seconds in [Int64.min, -62_135_596_801, 253_402_300_800, .max] {
            for nanoseconds: Int32 in [0, seconds < 0 ? -1 : 1] {
                let buffer = OutputBuffer()
                #expect(!buffer.append(rfc3339: Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
                #expect(buffer.isEmpty)
            }
        }
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `writes and reads base64`(_ plain: String, _ packed: String) {
        let storage = ByteStorage(plain)
        #expect(text { $0.append(base64: storage.view) } == packed)
        #expect(Base64.decode(packed) == Array(plain.utf8))
        #expect(Base64.decode(Base64.encode(Array(plain.utf8), .url), .url) == Array(plain.utf8))
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Zm9=", "Zm9v=", "Z===", "Zm 9v", "Zm9v\n", "_-8="])
    func `refuses base64 that is not exact`(_ packed: String) { #expect(Base64.decode(packed) == nil) }

    @Test func `commas stand between values only`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("a", int: 1)
        writer.key("b")
        writer.beginArray()
        writer.double(1)
        writer.null()
        writer.string("x")
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.member("c", text: nil as String?)
        writer.endObject()
        #expect(writer.buffer.text == "{\"a\":1,\"b\":[1.0,null,\"x\",{}],\"c\":null}")
    }
}
