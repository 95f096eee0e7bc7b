// SPDX-License-Identifier: Apache-2.0

/// Finds the name that a misspelled one was probably meant to be, for hints in error texts.
///
/// All layers use this one rule of nearness. The candidates must be names that the receiver of the text may see.
package enum Suggestion {
    /// The maximum number of compared candidates, so that a hint never costs noticeable time.
    private static let candidateLimit = 1000
    /// The maximum number of bytes of a compared name. Longer names get no hint, as no candidate is that long.
    private static let byteLimit = 64
    /// The length from which on a beginning is enough to recognize a name.
    private static let beginningLength = 3

    /// Returns the candidate that is most similar to a name, without regard to case.
    ///
    /// Only the first 1000 candidates are compared, and names of up to 64 bytes.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - candidates: The names that exist.
    /// - Returns: The candidate with the fewest edits, at most two, or one for names of up to
    ///   four bytes, where two letters in the wrong order count as one edit; otherwise the only candidate that begins with
    ///   the name, or the longest one that the name begins with; nil when all candidates differ more.
    package static func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
        guard name.utf8.count <= byteLimit, name.utf8.allSatisfy({ isPlain($0) }) else { return nil }
        let wanted = folded(name)
        let allowed = wanted.count <= 4 ? 1 : 2
        var best: (name: String, distance: Int)?
        var longer: [String] = []
        var shorter: String?
        // A name that exists and is refused nevertheless is no help.
        for candidate in candidates.prefix(candidateLimit) where candidate != name && candidate.utf8.count <= byteLimit {
            let letters = folded(candidate)
            if wanted.count >= beginningLength, letters.starts(with: wanted) { longer.append(candidate) }
            if letters.count > beginningLength, letters.count > shorter?.utf8.count ?? 0, wanted.starts(with: letters) {
                shorter = candidate
            }
            guard let distance = distance(wanted, letters, atMost: min(allowed, letters.count - 1)) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name ?? (longer.count == 1 ? longer[0] : shorter)
    }

    /// Returns the end of an error text that proposes the most similar candidate.
    ///
    /// - Parameters:
    ///   - name: The name as it was written.
    ///   - candidates: The names that exist.
    /// - Returns: A text such as `; did you mean 'name'?`; empty when no candidate is similar.
    package static func hint(for name: String, in candidates: some Sequence<String>) -> String {
        nearest(to: name, in: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The bytes of a name with small letters for the capital ones of ASCII.
    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { byte in byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte }
    }

    /// Whether a byte may be one of a name that gets a hint: everything but blanks, control characters and punctuation that
    /// no name has.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7f && !"\"'(),:;[]{}+".utf8.contains(byte)
    }

    /// Returns how many bytes have to be inserted, removed, replaced or swapped with their neighbour to turn one text into
    /// the other; nil when it is more than `limit`.
    ///
    /// - Complexity: O(n·limit) for texts of n bytes, as cells farther from the diagonal are beyond the limit. Three rows of
    ///   these cells are kept, in which the diagonal is in the middle.
    private static func distance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int? {
        guard limit >= 0, abs(left.count - right.count) <= limit else { return nil }
        let beyond = limit + 1
        let width = 2 * limit + 3
        // The rows one after the other, by turns: row n begins at (n % 3) * width.
        var cells = [Int](repeating: beyond, count: 3 * width)
        for column in 0...min(limit, right.count) { cells[column + beyond] = column }
        for row in 1..<(left.count + 1) {
            let current = row % 3 * width
            let previous = (row + 2) % 3 * width
            let before = (row + 1) % 3 * width
            var least = beyond
            for cell in 1..<(width - 1) {
                let column = row + cell - beyond
                var cost = beyond
                if column >= 0, column <= right.count {
                    cost = min(cost, cells[previous + cell + 1] + 1)
                    if column > 0 {
                        cost = min(cost, cells[current + cell - 1] + 1)
                        cost = min(cost, cells[previous + cell] + (left[row - 1] == right[column - 1] ? 0 : 1))
                    }
                    if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                        cost = min(cost, cells[before + cell] + 1)
                    }
                }
                cells[current + cell] = cost
                least = min(least, cost)
            }
            guard least <= limit else { return nil }
        }
        let distance = cells[left.count % 3 * width + right.count - left.count + beyond]
        return distance <= limit ? distance : nil
    }
}

extension String {
    /// The text as error messages quote what a client wrote: its first 80 characters, without control characters.
    package var truncated: String {
        let limit = 80
        guard unicodeScalars.count > limit || unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return self }
        var shown = String.UnicodeScalarView()
        for scalar in unicodeScalars.prefix(limit) {
            shown.append(scalar.properties.generalCategory == .control ? "\u{fffd}" : scalar)
        }
        return String(shown) + (unicodeScalars.count > limit ? "…" : "")
    }
}
