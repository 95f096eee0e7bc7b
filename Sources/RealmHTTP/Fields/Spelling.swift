// SPDX-License-Identifier: Apache-2.0

/// Finds what a misspelt name may have meant.
package enum Spelling {
    /// How many candidates are compared: a hint is not worth more.
    private static let candidateLimit = 1000

    /// The candidate within two edits of `name`, the nearest first; nil when all are further away.
    package static func nearest(to name: String, in candidates: some Sequence<String>) -> String? {
        let wanted = Array(name.lowercased().utf8.prefix(64))
        let allowed = wanted.count < 4 ? 1 : 2
        var best: (name: String, distance: Int)?
        for candidate in candidates.prefix(candidateLimit) {
            let letters = Array(candidate.lowercased().utf8.prefix(64))
            guard abs(letters.count - wanted.count) <= allowed else { continue }
            let distance = distance(wanted, letters)
            if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Levenshtein distance in bytes.
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
