// SPDX-License-Identifier: Apache-2.0

/// A text to look for, prepared once so that looking costs as little as possible per row and allocates nothing.
///
/// Byte `i` of the needle is kept as a pair: the bits that do not count (the letter-case bit where case is ignored and
/// the byte is a letter, else none) and the byte with these bits set. A byte of the text fits if it equals the second
/// after the first is or-ed to it; so both letter cases cost one comparison, and sixteen bytes are compared at once.
///
/// Searches test two bytes of the needle, the ones least likely in text, at sixteen positions at a time.
///
/// `@unchecked Sendable`: the memory is filled in `init` and never written again.
package struct ByteNeedle: @unchecked Sendable {
    package let count: Int
    package let ignoresCase: Bool
    /// First `ignored`, then `wanted`, `count` bytes each.
    private let storage: ByteStorage
    let ignored: UnsafePointer<UInt8>
    let wanted: UnsafePointer<UInt8>
    /// The two positions in the needle that are tested first; the same one twice in a needle of one byte.
    let probe: Probe
    let secondProbe: Probe
    /// Of needles for which a search could be slow: where to go on after a mismatch, as Knuth, Morris and Pratt do.
    private let restarts: [Int32]

    struct Probe: Sendable {
        let offset: Int
        let ignored: UInt8
        let wanted: UInt8

        @inline(__always) func fits(_ text: UnsafePointer<UInt8>) -> Bool { text[offset] | ignored == wanted }

        /// The same for sixteen neighbouring positions: lanes of 0 or -1.
        @inline(__always) func lanes(_ text: UnsafePointer<UInt8>) -> ByteLanes {
            // Signed lanes: the compiler makes single instructions only of those.
            let bytes = UnsafeRawPointer(text + offset).loadUnaligned(as: ByteLanes.self)
            let ignored = ByteLanes(repeating: Int8(bitPattern: ignored))
            let wanted = ByteLanes(repeating: Int8(bitPattern: wanted))
            return unsafeBitCast((bytes | ignored) .== wanted, to: ByteLanes.self)
        }
    }

    /// From this length on a repetitive text could make the plain search quadratic.
    private static let longCount = 64

    package init(_ pattern: ByteView, ignoringCase: Bool) {
        count = pattern.count
        ignoresCase = ignoringCase
        let ignoredBits = ignoringCase
            ? CaseFolding.caseBits(of: pattern) : [UInt8](repeating: 0, count: pattern.count)
        let wantedBytes = (0..<pattern.count).map { pattern[$0] | ignoredBits[$0] }
        storage = ByteStorage(ignoredBits + wantedBytes)
        // An empty needle is never compared; any address does.
        ignored = storage.view.start ?? UnsafePointer(bitPattern: 16).unsafelyUnwrapped
        wanted = ignored + pattern.count
        let (first, second) = ByteNeedle.rarest(wantedBytes)
        probe = ByteNeedle.probe(first, ignoredBits, wantedBytes)
        secondProbe = ByteNeedle.probe(second, ignoredBits, wantedBytes)
        restarts = pattern.count < ByteNeedle.longCount ? [] : ByteNeedle.restarts(wantedBytes)
    }

    package init(_ pattern: String, ignoringCase: Bool) {
        let storage = ByteStorage(pattern)
        self = withExtendedLifetime(storage) { ByteNeedle(storage.view, ignoringCase: ignoringCase) }
    }

    /// Is this a needle for which the plain search could take the product of both lengths?
    var isLong: Bool { !restarts.isEmpty }

    package func isEqual(to text: ByteView) -> Bool { text.count == count && fits(text, at: 0) }

    package func isPrefix(of text: ByteView) -> Bool { text.count >= count && fits(text, at: 0) }

    package func isSuffix(of text: ByteView) -> Bool { text.count >= count && fits(text, at: text.count - count) }

    /// Is the needle part of `text`? The empty needle is part of every text.
    package func isPart(of text: ByteView) -> Bool {
        guard text.count >= count, count > 0, let start = text.start else { return count == 0 }
        if isLong { return isPartOfLongText(start, text.count) }
        let positions = text.count - count + 1
        // In bounds: a position and the needle's length together end inside the text.
        if positions < 16 { return hasMatch(start, positions) }
        var position = 0
        while position + 16 <= positions {
            if candidates(start + position), hasMatch(start + position, 16) { return true }
            position += 16
        }
        return candidates(start + positions - 16) && hasMatch(start + positions - 16, 16)
    }

    private func fits(_ text: ByteView, at position: Int) -> Bool {
        guard count > 0, let start = text.start else { return true }
        return fits(start + position)
    }

    /// Does the needle fit at `text`, where `count` bytes (at least one) can be read?
    ///
    /// Compares in the widest steps that the length allows; the last step overlaps the one before.
    @inline(__always) func fits(_ text: UnsafePointer<UInt8>) -> Bool {
        if count >= 16 { return fits(text, step: 16, as: SIMD2<UInt64>.self) { ($0 | $1) == $2 } }
        if count >= 8 { return fits(text, step: 8, as: UInt64.self) { $0 | $1 == $2 } }
        if count >= 4 { return fits(text, step: 4, as: UInt32.self) { $0 | $1 == $2 } }
        if count >= 2 { return fits(text, step: 2, as: UInt16.self) { $0 | $1 == $2 } }
        return text.pointee | ignored.pointee == wanted.pointee
    }

    @inline(__always)
    private func fits<Word>(
        _ text: UnsafePointer<UInt8>, step: Int, as word: Word.Type, _ equal: (Word, Word, Word) -> Bool
    ) -> Bool {
        var offset = 0
        while true {
            // In bounds: `offset + step <= count`, and all three runs have `count` bytes.
            let text = UnsafeRawPointer(text + offset).loadUnaligned(as: word)
            let ignored = UnsafeRawPointer(ignored + offset).loadUnaligned(as: word)
            let wanted = UnsafeRawPointer(wanted + offset).loadUnaligned(as: word)
            if !equal(text, ignored, wanted) { return false }
            if offset + step == count { return true }
            offset = Swift.min(offset + step, count - step)
        }
    }

    /// Do both probes fit at any of sixteen neighbouring positions?
    @inline(__always) private func candidates(_ text: UnsafePointer<UInt8>) -> Bool {
        let lanes = unsafeBitCast(lanes(text), to: SIMD2<UInt64>.self)
        return lanes[0] | lanes[1] != 0
    }

    /// Lane by lane, for sixteen neighbouring positions: do both probes fit there?
    @inline(__always) func lanes(_ text: UnsafePointer<UInt8>) -> ByteLanes {
        probe.lanes(text) & secondProbe.lanes(text)
    }

    @inline(__always) private func hasMatch(_ text: UnsafePointer<UInt8>, _ positions: Int) -> Bool {
        for position in 0..<positions {
            let place = text + position
            if probe.fits(place), secondProbe.fits(place), fits(place) { return true }
        }
        return false
    }

    /// A search whose time grows with the text only, whatever text and needle are.
    private func isPartOfLongText(_ text: UnsafePointer<UInt8>, _ byteCount: Int) -> Bool {
        var matched = 0
        var previous: UInt8 = 0
        for position in 0..<byteCount {
            let byte = ignoresCase ? CaseFolding.folded(text[position], after: previous) : text[position]
            while matched > 0, wanted[matched] != byte { matched = Int(restarts[matched - 1]) }
            if wanted[matched] == byte { matched += 1 }
            if matched == count { return true }
            previous = text[position]
        }
        return false
    }

    /// For each length of a matched beginning: how much of it is matched still when the next byte does not fit.
    private static func restarts(_ bytes: [UInt8]) -> [Int32] {
        var restarts: [Int32] = [0]
        restarts.reserveCapacity(bytes.count)
        var length = 0
        for index in 1..<bytes.count {
            while length > 0, bytes[length] != bytes[index] { length = Int(restarts[length - 1]) }
            if bytes[length] == bytes[index] { length += 1 }
            restarts.append(Int32(truncatingIfNeeded: length))
        }
        return restarts
    }

    private static func probe(_ offset: Int, _ ignored: [UInt8], _ wanted: [UInt8]) -> Probe {
        guard offset < wanted.count else { return Probe(offset: 0, ignored: 0, wanted: 0) }
        return Probe(offset: offset, ignored: ignored[offset], wanted: wanted[offset])
    }

    /// The positions of the two rarest bytes; the first two where it makes no difference.
    private static func rarest(_ bytes: [UInt8]) -> (Int, Int) {
        guard bytes.count > 1 else { return (0, 0) }
        let ranked = bytes.indices.prefix(longCount).sorted { (frequency(bytes[$0]), $0) < (frequency(bytes[$1]), $1) }
        return (ranked[0], ranked[1])
    }

    /// How common a byte is in text, roughly: the most common letters first, then what names and words hold too.
    private static func frequency(_ byte: UInt8) -> Int {
        let common = "qxjzkvbpygfwmucldhrsnioat e".utf8
        return common.enumerated().first { $0.element == byte | 0x20 }.map { $0.offset + 1 } ?? 0
    }
}
