// SPDX-License-Identifier: Apache-2.0

internal import CSimdjson
internal import RealmPlatform
internal import RealmStorage

/// Reads JSON with the library simdjson, several times as fast as with jansson, which `JSONParser` falls back to.
///
/// It only accepts. A text that is wrong, is beyond a bound, or could have another value for jansson is left to that, so that
/// values and errors do not depend on which of them has read a text:
///
/// - Whatever simdjson refuses, of which some is right: numbers beyond 64 bits or the range of a double, deep nesting.
/// - Integers that only an unsigned number of 64 bits can represent.
/// - Objects that have a name twice, and names with NUL.
/// - A mark in front of the text, which newer versions of the library skip.
///
/// Both round reals correctly, whatever their length, so these are equal.
///
/// A tape exists during `read` only, during which the parser that owns its memory is not released.
@safe package struct JSONTape {
    /// The result of parsing a text.
    enum Outcome {
        case value(JSONValue)
        /// The caller does not want that many values.
        case unwanted
        /// It has to be read in another way; whether the caller was asked already, and wants it.
        case undecided(isExpected: Bool)
    }

    /// The length of the longest text in bytes. The parser needs fifteen times as much memory.
    package static let longestText = 1 << 20
    /// The number of members up to which names are compared with each other.
    private static let comparedNames = 24
    /// The part of a word of the tape that is not its type.
    private static let payload: UInt64 = 0x00ff_ffff_ffff_ffff

    /// The words of the tape. The first one has the position behind the last one.
    private let words: UnsafePointer<UInt64>
    /// The bytes of the strings.
    private let strings: UnsafePointer<UInt8>
    /// The position of the next word.
    private var next = 1
    /// Names that were read before.
    private var names = JSONNames(isUsed: false)

    /// Reads a text if its meaning is certain.
    ///
    /// - Parameters:
    ///   - bytes: The text; it is used during the call only.
    ///   - bounds: The limits that apply.
    ///   - names: Names that are likely to occur, and those of the text afterwards.
    ///   - isCounted: Whether `expects` is called for a text that is JSON, before any value is made.
    ///   - expects: Whether the caller wants that many values.
    static func read(
        _ bytes: UnsafeBufferPointer<UInt8>, _ bounds: JSONBounds, names: inout JSONNames, isCounted: Bool,
        _ expects: (Int) -> Bool
    ) -> Outcome {
        let outcome = unsafe reading(bytes) { (tape: inout JSONTape) -> Outcome in
            // There are at most as many values as words.
            if isCounted || tape.end > bounds.values {
                let count = tape.valueCount
                guard count <= bounds.values else { return .undecided(isExpected: false) }
                if isCounted, !expects(count) { return .unwanted }
            }
            swap(&tape.names, &names)
            let value = tape.value(bounds.depth)
            swap(&tape.names, &names)
            return value.map(Outcome.value) ?? .undecided(isExpected: true)
        }
        return outcome ?? .undecided(isExpected: false)
    }

    /// Runs `body` with the tape of a text; nil for a text that the library does not accept.
    static func reading<Result>(_ bytes: UnsafeBufferPointer<UInt8>, _ body: (inout JSONTape) -> Result) -> Result? {
        guard bytes.count <= longestText, let start = bytes.baseAddress, unsafe bytes.first != 0xef,
            let parser = unsafe realm_rest_tape_take(bytes.count)
        else { return nil }
        defer { unsafe realm_rest_tape_give(parser) }
        guard let words = unsafe realm_rest_tape_read(parser, start, bytes.count),
            let strings = unsafe realm_rest_tape_strings(parser)
        else { return nil }
        var tape = unsafe JSONTape(words: words, strings: strings)
        return body(&tape)
    }

    /// Makes a walk at the beginning of a tape.
    private init(words: UnsafePointer<UInt64>, strings: UnsafePointer<UInt8>) {
        unsafe self.words = words
        unsafe self.strings = strings
    }

    /// The position of the last word, which ends the tape.
    var end: Int { unsafe Int(words[0] & JSONTape.payload) - 1 }

    /// The number of values. Names of members do not count.
    private var valueCount: Int {
        let end = end
        var count = 0
        var index = 1
        while index < end {
            let word = unsafe words[index]
            switch UInt8(word >> 56) {
            case UInt8(ascii: "]"), UInt8(ascii: "}"): count -= 1
            // Names are strings on the tape.
            case UInt8(ascii: "{"): count -= JSONTape.elementCount(word)
            case UInt8(ascii: "l"), UInt8(ascii: "d"), UInt8(ascii: "u"): index += 1
            default: break
            }
            index += 1
            count += 1
        }
        return count
    }

    /// The type of the next value, as the tape has it.
    var kind: UInt8 { unsafe UInt8(words[next] >> 56) }

    /// Takes the word that begins an object, and returns the number of its members; nil when another value is next.
    mutating func openObject() -> Int? { open(UInt8(ascii: "{")) }

    /// Takes the word that begins an array, and returns the number of its elements; nil when another value is next.
    mutating func openArray() -> Int? { open(UInt8(ascii: "[")) }

    /// Takes a word that begins an object or an array, and returns the number of its members or elements.
    private mutating func open(_ wanted: UInt8) -> Int? {
        guard kind == wanted else { return nil }
        next += 1
        return unsafe JSONTape.elementCount(words[next - 1])
    }

    /// Takes the word that ends an object or an array, or that is itself a value.
    mutating func pass() { next += 1 }

    /// Takes a value of two words, and returns the second one.
    mutating func longWord() -> UInt64 {
        next += 1
        return number()
    }

    /// Takes a name or a string. The view is valid while there is the tape.
    mutating func view() -> ByteView {
        defer { next += 1 }
        return unsafe ByteView(borrowing: bytes(words[next]))
    }

    /// The number of elements or members that begin with a word. The library counts up to 16 million, which no text reaches.
    private static func elementCount(_ word: UInt64) -> Int { Int(word >> 32 & 0xff_ffff) }

    /// Takes the next value; nil for one that has to be read in another way.
    ///
    /// - Parameter depth: The limit of nested arrays and objects from here on.
    private mutating func value(_ depth: Int) -> JSONValue? {
        let word = unsafe words[next]
        next += 1
        switch UInt8(word >> 56) {
        case UInt8(ascii: "\""): return .string(string(word))
        case UInt8(ascii: "l"): return .integer(Int64(bitPattern: number()))
        case UInt8(ascii: "d"): return .real(Double(bitPattern: number()))
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "[") where depth > 0: return elements(JSONTape.elementCount(word), depth - 1).map(JSONValue.array)
        case UInt8(ascii: "{") where depth > 0:
            return members(JSONTape.elementCount(word), depth - 1).map { .object(JSONObject($0)) }
        default: return nil
        }
    }

    /// Takes the word behind the one that says that a number follows.
    private mutating func number() -> UInt64 {
        defer { next += 1 }
        return unsafe words[next]
    }

    /// Takes the elements of an array and the word that ends it.
    private mutating func elements(_ count: Int, _ depth: Int) -> [JSONValue]? {
        var elements: [JSONValue] = []
        elements.reserveCapacity(count)
        for _ in 0..<count {
            guard let element = value(depth) else { return nil }
            elements.append(element)
        }
        next += 1
        return elements
    }

    /// Takes the members of an object and the word that ends it; nil when a name may be there twice, or has NUL.
    private mutating func members(_ count: Int, _ depth: Int) -> [(name: String, value: JSONValue)]? {
        var members: [(name: String, value: JSONValue)] = []
        members.reserveCapacity(count)
        // A bit for each fingerprint that was seen: names have to be compared only where two share one.
        var seen: UInt64 = 0
        for _ in 0..<count {
            guard let (name, fingerprint) = name() else { return nil }
            let bit: UInt64 = 1 << (fingerprint >> 58)
            if seen & bit != 0, count <= JSONTape.comparedNames, members.contains(where: { $0.name == name }) { return nil }
            seen |= bit
            guard let value = value(depth) else { return nil }
            members.append((name, value))
        }
        next += 1
        guard count <= JSONTape.comparedNames || Set<ByteText>(texts: members.lazy.map(\.name)).count == count else { return nil }
        return members
    }

    /// Takes the name of a member, with its fingerprint; nil when it has NUL.
    private mutating func name() -> (String, fingerprint: UInt64)? {
        let bytes = unsafe bytes(words[next])
        next += 1
        let key = unsafe JSONTape.key(bytes)
        let fingerprint = key.fingerprint
        let isShort = bytes.count <= JSONNames.Key.longest
        if isShort, let name = names.name(key, fingerprint) { return (name, fingerprint) }
        guard unsafe !bytes.contains(0) else { return nil }
        let name = unsafe String(decoding: bytes, as: UTF8.self)
        if isShort { names.keep(name, key, fingerprint) }
        return (name, fingerprint)
    }

    /// Returns the key by which a name is looked up. Bytes after a string may be read: the last one has padding behind it.
    private static func key(_ bytes: UnsafeBufferPointer<UInt8>) -> JSONNames.Key {
        func part(_ index: Int) -> UInt64 {
            guard bytes.count > index, let start = bytes.baseAddress else { return 0 }
            let word = unsafe UInt64(littleEndian: UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self))
            return bytes.count >= index + 8 ? word : word & (1 << (8 * UInt64(bytes.count - index)) - 1)
        }
        return JSONNames.Key(first: part(0), second: part(8), third: part(16), fourth: part(24), count: bytes.count)
    }

    /// Returns the string whose place a word has.
    private func string(_ word: UInt64) -> String { unsafe String(decoding: bytes(word), as: UTF8.self) }

    /// Returns the bytes of the string whose place a word has.
    private func bytes(_ word: UInt64) -> UnsafeBufferPointer<UInt8> {
        let start = unsafe strings + Int(word & JSONTape.payload)
        let count = unsafe Int(UnsafeRawPointer(start).loadUnaligned(as: UInt32.self))
        return unsafe UnsafeBufferPointer(start: start + 4, count: count)
    }
}
