// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// The search string of `TEXT`: words that a text must have, and words that it must not have.
///
/// Terms are separated by white space: `word`, `word*` for the beginning of a word, `-word` for exclusion. Words are folded in
/// the same way as the words of stored texts: to lower case, and without most diacritics. All terms have to hold.
package struct FullTextSearch: Sendable {
    /// A term of a full-text search: a word that a text must have.
    package struct Term: Hashable, Sendable {
        /// The folded bytes of the word. Empty when the term has no letter or digit; then it matches nothing.
        package let word: [UInt8]
        /// Whether the term ends with `*`, so that words which begin with it match, too.
        package let isPrefix: Bool
    }

    /// The reason why a search string cannot be used.
    package enum Malformed: Error, Sendable {
        /// The search string has no term at all.
        case noTerms
        /// A term consists of several words, for example because of a hyphen.
        case severalWords(term: String)
        /// The same word is wanted by one term and excluded by another.
        case includedAndExcluded(word: String)

        /// The reason as a sentence without a full stop, for the problem that a client receives.
        package var text: String {
            switch self {
            case .noTerms: return "a full text search needs at least one word"
            case .severalWords(let term): return "'\(term)' is not a single word"
            case .includedAndExcluded(let word): return "'\(word)' is searched for and excluded"
            }
        }
    }

    /// The terms that a text must have, each once, in the order of the search string.
    package private(set) var included: [Term] = []
    /// The folded words that a text must not have, each once.
    package private(set) var excluded: [[UInt8]] = []

    /// Parses a search string.
    ///
    /// - Parameter text: The string in UTF-8. Its bytes are copied, not borrowed.
    /// - Throws: `Malformed` when the string has no term, or a term cannot be used.
    package init(_ text: ByteView) throws(Malformed) {
        var known: Set<Term> = []
        var unwanted: Set<[UInt8]> = []
        for range in FullTextSearch.terms(of: text) {
            let term = text.slice(range.lowerBound, range.upperBound)
            let isExclusion = term[0] == UInt8(ascii: "-")
            let word = try FullTextSearch.word(of: isExclusion ? term.suffix(from: 1) : term)
            if isExclusion {
                if unwanted.insert(word).inserted { excluded.append(word) }
            } else {
                let found = Term(word: word, isPrefix: term[term.count - 1] == UInt8(ascii: "*"))
                if known.insert(found).inserted { included.append(found) }
            }
        }
        if included.isEmpty && excluded.isEmpty { throw .noTerms }
        for word in excluded where known.contains(Term(word: word, isPrefix: false)) {
            throw .includedAndExcluded(word: String(decoding: word, as: UTF8.self))
        }
    }

    /// Returns the terms of a search string, as the ranges of bytes between white space.
    private static func terms(of text: ByteView) -> [Range<Int>] {
        var terms: [Range<Int>] = []
        var start: Int?
        for index in 0..<text.count {
            let isSpace = text[index] == 0x20 || (0x09...0x0d).contains(text[index])
            if isSpace, let first = start {
                terms.append(first..<index)
                start = nil
            } else if !isSpace, start == nil {
                start = index
            }
        }
        if let start { terms.append(start..<text.count) }
        return terms
    }

    /// Folds a term to its only word; the result is empty when the term has no word.
    ///
    /// - Throws: `Malformed.severalWords`.
    private static func word(of term: ByteView) throws(Malformed) -> [UInt8] {
        let words = FullTextTokenizer.words(of: term)
        guard words.count <= 1 else { throw .severalWords(term: term.string) }
        return words.first ?? []
    }
}

// MARK: - Evaluation

extension FullTextSearch {
    /// Returns whether a text matches, without an index.
    ///
    /// - Parameter text: The text, or nil for null, which has no word.
    /// - Complexity: O(length of the text).
    package func matches(_ text: ByteView?) -> Bool {
        let words = Set(text.map(FullTextTokenizer.words) ?? [])
        return included.allSatisfy { $0.matches(words) } && excluded.allSatisfy { !words.contains($0) }
    }

    /// Returns the objects with any excluded word, ascending and each once.
    ///
    /// - Parameters:
    ///   - index: The index of a string property.
    ///   - cancellation: The check that can stop the query.
    /// - Throws: A storage error when the index is damaged or the check asks to stop.
    func excludedKeys(in index: FullTextIndex, _ cancellation: CancellationCheck?) throws(StorageError) -> IndexedKeys {
        try IndexedKeys.union(try excludedLists(in: index, cancellation))
    }

    /// Returns the objects with all included terms, of which there is at least one, and no excluded word; ascending. They are counted
    /// at once if there is one word alone.
    ///
    /// - Parameters:
    ///   - index: The index of a string property.
    ///   - cancellation: The check that can stop the query.
    /// - Throws: A storage error when the index is damaged or the check asks to stop.
    func matches(in index: FullTextIndex, _ cancellation: CancellationCheck?) throws(StorageError) -> IndexedKeys {
        if included.count == 1, excluded.isEmpty, !included[0].isPrefix { return try included[0].objects(in: index) }
        var lists: [IndexedKeys] = []
        var inMemory: IndexedKeys?
        for term in included {
            let keys = try term.objects(in: index)
            // Every search in the index counts as some steps, whatever it finds.
            try cancellation?.step(16 + keys.count)
            guard keys.count > 0 else { return keys }
            guard keys.areInMemory else {
                lists.append(keys)
                continue
            }
            // Of the lists in memory, which are those of prefixes, one is kept: what all so far have in common.
            if let found = inMemory { inMemory = try IndexedKeys.common(to: [found, keys]) } else { inMemory = keys }
        }
        if let inMemory { lists.append(inMemory) }
        return try IndexedKeys.common(to: lists, without: try excludedLists(in: index, cancellation))
    }

    /// Returns the objects with each excluded word.
    private func excludedLists(in index: FullTextIndex, _ cancellation: CancellationCheck?) throws(StorageError) -> [IndexedKeys]
    {
        var lists: [IndexedKeys] = []
        for word in excluded where !word.isEmpty {
            let keys = try index.keys(with: word)
            try cancellation?.step(16 + keys.count)
            lists.append(keys)
        }
        return lists
    }
}

extension FullTextSearch.Term {
    /// Returns whether the term is among the folded words of a text, or begins one of them.
    fileprivate func matches(_ words: Set<[UInt8]>) -> Bool {
        guard !word.isEmpty else { return false }
        return isPrefix ? words.contains { $0.starts(with: word) } : words.contains(word)
    }

    /// The keys of the objects that have the term, from the index, ascending.
    fileprivate func objects(in index: FullTextIndex) throws(StorageError) -> IndexedKeys {
        guard !word.isEmpty else { return IndexedKeys([]) }
        return isPrefix ? try index.keys(withPrefix: word) : try index.keys(with: word)
    }
}
