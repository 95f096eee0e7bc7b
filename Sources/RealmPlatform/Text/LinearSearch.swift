// SPDX-License-Identifier: Apache-2.0

/// A search whose time grows with the length of the text only, whatever text and pattern are: that of Knuth, Morris and Pratt.
///
/// It is used for long patterns, for which the faster plain search could take the product of both lengths.
package struct LinearSearch: Sendable {
    /// The pattern, in lower case where letter case is ignored.
    private let pattern: [UInt8]
    /// Whether letter case is ignored.
    private let ignoresCase: Bool
    /// For each length of a matched beginning, less one: how much of it is still matched when the next byte does not fit.
    private let failureTable: [Int]

    /// Prepares a search for `pattern`.
    ///
    /// - Complexity: O(length of the pattern), in time and memory.
    package init(_ pattern: ByteView, ignoringCase: Bool) {
        let bits = ignoringCase ? CaseFolding.caseBits(of: pattern) : []
        let bytes = pattern.array
        self.pattern = ignoringCase ? bytes.indices.map { bytes[$0] | bits[$0] } : bytes
        ignoresCase = ignoringCase
        failureTable = LinearSearch.failureTable(of: self.pattern)
    }

    /// Prepares a search for a pattern that is in lower case already where letter case is ignored.
    package init(folded pattern: [UInt8], ignoringCase: Bool) {
        self.pattern = pattern
        ignoresCase = ignoringCase
        failureTable = LinearSearch.failureTable(of: pattern)
    }

    /// Returns whether the pattern occurs in `text`. The empty pattern occurs in every text.
    ///
    /// - Complexity: O(length of the text); each byte is compared at most twice on average.
    package func finds(in text: ByteView) -> Bool {
        guard !pattern.isEmpty else { return true }
        var matched = 0
        var previous: UInt8 = 0
        return unsafe text.withBuffer { text in
            for index in 0..<text.count {
                let original = unsafe text[index]
                let byte = ignoresCase ? CaseFolding.folded(original, after: previous) : original
                while matched > 0, pattern[matched] != byte { matched = failureTable[matched - 1] }
                if pattern[matched] == byte { matched += 1 }
                if matched == pattern.count { return true }
                previous = original
            }
            return false
        }
    }

    /// Computes the failure table in time that grows with the length of the pattern.
    private static func failureTable(of pattern: [UInt8]) -> [Int] {
        var table: [Int] = []
        table.reserveCapacity(pattern.count)
        var length = 0
        for (index, byte) in pattern.enumerated() {
            while length > 0, pattern[length] != byte { length = table[length - 1] }
            if index > 0, pattern[length] == byte { length += 1 }
            table.append(length)
        }
        return table
    }
}
