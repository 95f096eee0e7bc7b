// SPDX-License-Identifier: Apache-2.0

internal import CProcessor
package import RealmPlatform

/// Bytes to search in texts, each of them in up to two spellings: as it is, or in upper and lower case.
///
/// The case folding of the query language keeps lengths, so that byte `i` of a match has to be one
/// of two bytes. A pattern is made once per query and used for many leaves.
package struct BytePattern: Sendable {
    /// The bytes in their first spelling.
    let first: [UInt8]
    /// The bytes in their second spelling; the same where a byte has one only.
    let second: [UInt8]
    /// Whether the two spellings differ in any byte.
    private let isFolded: Bool

    /// Makes a pattern that matches these bytes only.
    package init(_ bytes: some Sequence<UInt8>) {
        first = Array(bytes)
        second = first
        isFolded = false
    }

    /// Makes a pattern in two spellings, which must have the same length.
    package init(upper: [UInt8], lower: [UInt8]) {
        precondition(upper.count == lower.count, "spellings of different lengths")
        first = upper
        second = lower
        isFolded = upper != lower
    }

    /// The number of bytes that a match takes.
    package var count: Int { first.count }
    /// Whether the pattern has no bytes; it is part of every text then.
    package var isEmpty: Bool { first.isEmpty }

    /// The bytes of a pattern with one spelling; nil for one with two.
    package var exactBytes: [UInt8]? { isFolded ? nil : first }

    /// Returns whether `text` equals the pattern.
    package func equals(_ text: ByteView) -> Bool { text.count == count && matches(text, at: 0) }

    /// Returns whether `text` begins with the pattern.
    package func isPrefix(of text: ByteView) -> Bool { text.count >= count && matches(text, at: 0) }

    /// Returns whether `text` ends with the pattern.
    package func isSuffix(of text: ByteView) -> Bool { text.count >= count && matches(text, at: text.count - count) }

    /// Returns whether the pattern occurs in a text; nil when that takes more comparisons than `limit`.
    func isFound(in text: ByteView, comparing limit: Int) -> Bool? {
        guard text.count >= count, let search = Search(text, self) else { return false }
        let end = text.count &- count
        var left = limit
        for base in stride(from: 0, through: end, by: 64) {
            var candidates = search.candidates(base)
            while candidates != 0 {
                let position = base &+ candidates.trailingZeroBitCount
                candidates &= candidates &- 1
                guard position <= end else { return false }
                let matched = unsafe matchedCount(search.text, at: position, from: min(2, count))
                if matched == count { return true }
                left &-= matched
                if left < 0 { return nil }
            }
        }
        return false
    }

    /// Returns how many bytes of the pattern match at `position`, of which those before `start` do.
    @inline(__always)
    private func matchedCount(_ text: UnsafeBufferPointer<UInt8>, at position: Int, from start: Int) -> Int {
        var index = start
        while index < first.count {
            let byte = unsafe text[position &+ index]
            guard byte == first[index] || byte == second[index] else { break }
            index &+= 1
        }
        return index
    }

    /// The length in bytes up to which a text is searched position by position, which takes less than to prepare the search of many at a
    /// time.
    static let shortByteCount = 24

    /// Returns whether the pattern, which is not empty, occurs in a short text.
    func isFound(inShort text: ByteView) -> Bool {
        guard text.count >= count else { return false }
        return unsafe first.withUnsafeBufferPointer { first in
            unsafe second.withUnsafeBufferPointer { second in
                unsafe text.withBuffer { text in
                    for position in 0...(text.count &- first.count) {
                        var index = 0
                        while index < first.count {
                            let byte = unsafe text[position &+ index]
                            guard unsafe byte == first[index] || byte == second[index] else { break }
                            index &+= 1
                        }
                        if index == first.count { return true }
                    }
                    return false
                }
            }
        }
    }

    /// Returns whether the pattern occurs at `position` of `text`, which must be long enough.
    private func matches(_ text: ByteView, at position: Int) -> Bool {
        unsafe text.withBuffer { unsafe matches($0, at: position, from: 0) }
    }

    /// Returns whether all bytes of the pattern from `start` on match at `position`.
    @inline(__always)
    private func matches(_ text: UnsafeBufferPointer<UInt8>, at position: Int, from start: Int) -> Bool {
        for index in start..<max(first.count, start) {
            let byte = unsafe text[position &+ index]
            if byte != first[index], byte != second[index] { return false }
        }
        return true
    }
}

// MARK: - Searching

/// Search of many positions at a time with vector compares.
extension BytePattern {
    /// Calls `body` with all positions in `text` at which the pattern occurs, as bits that are
    /// valid only during the call. The pattern must not be empty.
    ///
    /// - Parameters:
    ///   - text: The bytes that are searched.
    ///   - body: Uses the positions; its errors are rethrown.
    /// - Returns: The result of `body`.
    func withMatches<Result, Failure: Error>(
        in text: ByteView, _ body: (TextMatches) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let wordCount = (text.count &+ 63) &>> 6
        return try unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount &+ 1) { (words) throws(Failure) in
            unsafe words.initialize(repeating: 0)
            if let search = Search(text, self) {
                for index in 0..<wordCount { unsafe words[index] = matches(search, index &<< 6) }
            }
            // In bounds: the matches know how many positions there are.
            let start = unsafe UnsafeRawPointer(words.baseAddress.unsafelyUnwrapped)
            return try unsafe body(TextMatches(words: start, count: text.count))
        }
    }

    /// Returns which of the 64 positions from `base` on are matches, as bits.
    @inline(__always)
    private func matches(_ search: Search, _ base: Int) -> UInt64 {
        let candidates = search.candidates(base)
        return count > 2 && candidates != 0 ? confirmed(candidates, search, base) : candidates
    }

    /// Returns which of the candidates, whose first two bytes match, are matches as a whole.
    private func confirmed(_ candidates: UInt64, _ search: Search, _ base: Int) -> UInt64 {
        var rest = candidates
        var kept = candidates
        while rest != 0 {
            let bit = rest & (0 &- rest)
            let position = base &+ rest.trailingZeroBitCount
            if unsafe position > search.text.count &- count || !matches(search.text, at: position, from: 2) { kept ^= bit }
            rest ^= bit
        }
        return kept
    }

    /// A text, and the first two bytes of the pattern, each in two spellings.
    @safe private struct Search {
        /// The bytes of the text that is searched.
        let text: UnsafeBufferPointer<UInt8>
        /// The two spellings of the first byte.
        private let head: (UInt8, UInt8)
        /// The two spellings of the second byte.
        private let next: (UInt8, UInt8)
        /// Whether the pattern has a second byte.
        private let hasNext: Bool

        /// Prepares a search; nil when the text or the pattern has no bytes.
        init?(_ text: ByteView, _ pattern: BytePattern) {
            guard let start = unsafe text.start, let first = pattern.first.first else { return nil }
            unsafe self.text = unsafe UnsafeBufferPointer(start: start, count: text.count)
            head = (first, pattern.second[0])
            hasNext = pattern.count > 1
            next = hasNext ? (pattern.first[1], pattern.second[1]) : (0, 0)
        }

        /// Returns at which of the 64 positions from `base` on the first two bytes of the pattern
        /// match, as bits. `base` must be in the text; bytes after its end are compared as zeros.
        @inline(__always)
        func candidates(_ base: Int) -> UInt64 {
            let start = unsafe text.baseAddress.unsafelyUnwrapped + base
            // In bounds: 64 bytes from `base` on and the one after them.
            if unsafe base &+ 65 <= text.count { return unsafe candidates(start) }
            return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 80) { copy in
                unsafe copy.initialize(repeating: 0)
                let target = unsafe copy.baseAddress.unsafelyUnwrapped
                // In bounds: what is left of the text, fewer than 65 bytes.
                unsafe target.update(from: start, count: text.count &- base)
                return unsafe candidates(UnsafePointer(target))
            }
        }

        /// Compares 64 positions; 65 bytes from `bytes` on must be readable.
        @inline(__always)
        private func candidates(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
            let heads = unsafe realm_rest_find(bytes, head.0, head.1)
            guard hasNext else { return heads }
            let last: UInt64 = unsafe bytes[64] == next.0 || bytes[64] == next.1 ? 1 &<< 63 : 0
            return unsafe heads & (realm_rest_find(bytes, next.0, next.1) &>> 1 | last)
        }
    }
}

/// The positions in a run of bytes at which a pattern occurs, one bit each.
///
/// It is made by `BytePattern.withMatches` for all texts of a leaf together, and valid during that
/// call only. Whether one of the texts has a match is then a test of a few bits.
@safe struct TextMatches {
    /// The words with the bits, and one more word, which is 0.
    let words: UnsafeRawPointer
    /// The number of positions, which is that of the bytes that were searched.
    let count: Int

    /// Returns whether there is a match at one of `positions` positions from `first` on. Positions
    /// outside the run do not count.
    ///
    /// - Parameters:
    ///   - first: The first position that is tested.
    ///   - positions: How many positions are tested; a number below 1 has no match.
    @inline(__always)
    func contains(_ first: Int, _ positions: Int) -> Bool {
        var position = first
        var rest = Swift.min(positions, count &- first)
        guard position >= 0 else { return false }
        while rest > 0 {
            // In bounds: `position` is below the count, and a whole word follows the last one with bits.
            let word =
                unsafe words.loadUnaligned(fromByteOffset: position &>> 3, as: UInt64.self)
                &>> UInt64(truncatingIfNeeded: position & 7)
            // At least 57 bits of the word are left after shifting, which mostly is enough.
            let isFound = word & Mask.low(Swift.min(rest, 57)) != 0
            if rest <= 57 { return isFound }
            if isFound { return true }
            position &+= 57
            rest &-= 57
        }
        return false
    }
}

/// Patterns made from constants of queries.
extension BytePattern {
    /// Makes a pattern that matches a text as it is or, if letter case is ignored, both cases of each of its letters.
    ///
    /// - Parameters:
    ///   - text: The text of the constant, whose bytes are copied.
    ///   - ignoringCase: Whether letters match in both cases, as with `[c]` in a query.
    package init(_ text: ByteView, ignoringCase: Bool) {
        guard ignoringCase else {
            self.init(text.array)
            return
        }
        let bits = CaseFolding.caseBits(of: text)
        self.init(
            upper: (0..<text.count).map { text[$0] & ~bits[$0] }, lower: (0..<text.count).map { text[$0] | bits[$0] })
    }
}

extension BytePattern {
    /// Returns whether the pattern occurs anywhere in `text`. An empty pattern occurs in every text.
    ///
    /// - Complexity: 64 positions are tested at a time. A long text that agrees with the pattern almost everywhere is searched by
    ///   `LinearSearch`, so the time grows with the length of the text only.
    package func occurs(in text: ByteView) -> Bool {
        guard !isEmpty else { return true }
        if text.count <= BytePattern.shortByteCount { return isFound(inShort: text) }
        return isFound(in: text, comparing: text.count &+ BytePattern.leastComparisons)
            ?? LinearSearch(folded: second, ignoringCase: isFolded).finds(in: text)
    }

    /// The maximum number of bytes compared one by one in a text of no length. A linear search is prepared at most after so much
    /// work.
    private static let leastComparisons = 4096
}
