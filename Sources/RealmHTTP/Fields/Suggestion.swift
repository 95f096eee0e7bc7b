// SPDX-License-Identifier: Apache-2.0

/// Finds the name that a misspelled one was probably meant to be, for hints in error texts.
enum Suggestion {
    /// How many candidates are compared at most, so that a hint never costs noticeable time.
    private static let candidateLimit = 1000

    /// Returns the candidate that is most similar to a name, without regard to case.
    ///
    /// Only the first 1000 candidates and the first 64 bytes of each name are compared.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - candidates: The names that exist.
    /// - Returns: The candidate with the fewest edits, at most two, or one for names shorter than
    ///   four bytes; nil when all candidates differ more.
    private static func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().utf8.prefix(64))
        let allowed = wanted.count < 4 ? 1 : 2
        var best: (name: String, distance: Int)?
        // A name that exists and is refused nevertheless is no help.
        for candidate in candidates.prefix(candidateLimit) where candidate != name {
            let letters = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(letters.count - wanted.count) <= allowed else { continue }
            let distance = distance(wanted, letters)
            if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Returns the end of an error text that proposes the most similar candidate.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - candidates: The names that exist.
    /// - Returns: A text such as `; did you mean 'name'?`; empty when no candidate is similar.
    static func hint(for name: String, in candidates: some Sequence<String>) -> String {
        nearest(to: name, in: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Returns how many bytes have to be inserted, removed or replaced to turn one text into the
    /// other (Levenshtein distance).
    ///
    /// - Complexity: O(m·n) for texts of m and n bytes.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var previous = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                current.append(min(previous[column] + (byte == other ? 0 : 1), previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[right.count]
    }
}
