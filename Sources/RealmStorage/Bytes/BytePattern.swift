// SPDX-License-Identifier: Apache-2.0

/// Bytes to look for in texts, each in up to two spellings: as it is, or as its upper and its lower case.
///
/// Case folding of the query language keeps lengths, so that byte `i` of a text has to be one of two bytes.
package struct BytePattern: Sendable {
    private let first: [UInt8]
    private let second: [UInt8]
    /// Whether the spellings differ at all.
    private let isFolded: Bool

    /// A pattern that must be met as it is.
    package init(_ bytes: some Sequence<UInt8>) {
        first = Array(bytes)
        second = first
        isFolded = false
    }

    /// A pattern in two spellings of the same length.
    package init(upper: [UInt8], lower: [UInt8]) {
        precondition(upper.count == lower.count, "spellings of different lengths")
        first = upper
        second = lower
        isFolded = upper != lower
    }

    package var count: Int { first.count }
    package var isEmpty: Bool { first.isEmpty }

    /// The bytes of a pattern with one spelling, else nil.
    package var exactBytes: [UInt8]? { isFolded ? nil : first }

    /// Whether `text` is the pattern.
    package func equals(_ text: ByteView) -> Bool { text.count == count && matches(text, at: 0) }

    /// Whether `text` begins with the pattern.
    package func isPrefix(of text: ByteView) -> Bool { text.count >= count && matches(text, at: 0) }

    /// Whether `text` ends with the pattern.
    package func isSuffix(of text: ByteView) -> Bool { text.count >= count && matches(text, at: text.count - count) }

    /// Whether the pattern stands somewhere in `text`.
    package func occurs(in text: ByteView) -> Bool {
        guard !isEmpty else { return true }
        var found = false
        forEachMatch(in: text) { _ in
            found = true
            return .max
        }
        return found
    }

    /// Whether the pattern stands at `position` of `text`, which reaches far enough.
    private func matches(_ text: ByteView, at position: Int) -> Bool {
        text.withBuffer { matches($0, at: position, from: 0) }
    }

    @inline(__always)
    private func matches(_ text: UnsafeBufferPointer<UInt8>, at position: Int, from start: Int) -> Bool {
        for index in start..<max(first.count, start) {
            let byte = text[position &+ index]
            if byte != first[index], byte != second[index] { return false }
        }
        return true
    }
}

// MARK: - Searching

extension BytePattern {
    /// Calls `body` with the positions in `text` at which the pattern stands, ascending.
    ///
    /// `body` answers from where on it wants to hear of more. 64 positions are tested at once for the first two
    /// bytes; only where both fit the rest is looked at. The pattern is not empty.
    func forEachMatch<Failure: Error>(
        in text: ByteView, _ body: (Int) throws(Failure) -> Int
    ) throws(Failure) {
        guard text.count >= count, let start = text.start, let head = first.first else { return }
        let other = second[0]
        let search = Search(
            text: UnsafeBufferPointer(start: start, count: text.count),
            head: (ByteLanes(repeating: Int8(bitPattern: head)), ByteLanes(repeating: Int8(bitPattern: other))),
            next: (
                ByteLanes(repeating: Int8(bitPattern: count > 1 ? first[1] : 0)),
                ByteLanes(repeating: Int8(bitPattern: count > 1 ? second[1] : 0))),
            hasNext: count > 1)
        var wanted = 0
        for base in stride(from: 0, through: text.count &- count, by: 64) where base &+ 64 > wanted {
            var candidates = isFolded ? search.folded(base) : search.exact(base)
            while candidates != 0 {
                let position = base &+ candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                guard position <= text.count &- count else { return }
                if position >= wanted, matches(search.text, at: position, from: 2) { wanted = try body(position) }
            }
        }
    }

    /// A text, and the first two bytes that are looked for in it.
    private struct Search {
        let text: UnsafeBufferPointer<UInt8>
        let head: (ByteLanes, ByteLanes)
        let next: (ByteLanes, ByteLanes)
        let hasNext: Bool

        /// Where in the 64 positions from `base` on the first two bytes fit a pattern of one spelling.
        @inline(__always)
        func exact(_ base: Int) -> UInt64 {
            groups(base) { lanes, following in
                let heads = Int8.equal(lanes, head.0)
                return hasNext ? heads & Int8.equal(following, next.0) : heads
            }
        }

        /// The same for a pattern of two spellings.
        @inline(__always)
        func folded(_ base: Int) -> UInt64 {
            groups(base) { lanes, following in
                let heads = Int8.equal(lanes, head.0) | Int8.equal(lanes, head.1)
                return hasNext ? heads & (Int8.equal(following, next.0) | Int8.equal(following, next.1)) : heads
            }
        }

        @inline(__always)
        private func groups(_ base: Int, _ test: (ByteLanes, ByteLanes) -> ByteLanes) -> UInt64 {
            let start = UnsafeRawPointer(text.baseAddress.unsafelyUnwrapped)
            // In bounds: 64 bytes from `base` on and the one after them.
            if base &+ 65 <= text.count { return word(start + base, test) }
            return withUnsafeTemporaryAllocation(byteCount: 80, alignment: 16) { copy in
                copy.initializeMemory(as: UInt8.self, repeating: 0)
                // In bounds: what is left of the text, fewer than 65 bytes.
                copy.baseAddress.unsafelyUnwrapped.copyMemory(from: start + base, byteCount: text.count &- base)
                return word(UnsafeRawPointer(copy.baseAddress.unsafelyUnwrapped), test)
            }
        }

        @inline(__always)
        private func word(_ pointer: UnsafeRawPointer, _ test: (ByteLanes, ByteLanes) -> ByteLanes) -> UInt64 {
            LanePacking.word(
                test(Int8.load(pointer, 0), Int8.load(pointer, 1)), test(Int8.load(pointer, 16), Int8.load(pointer, 17)),
                test(Int8.load(pointer, 32), Int8.load(pointer, 33)), test(Int8.load(pointer, 48), Int8.load(pointer, 49)))
        }
    }
}
