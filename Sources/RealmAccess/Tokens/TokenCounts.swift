// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// How many tokens were verified and refused. The lock of the `TokenVerifier` guards it.
struct TokenCounts {
    /// The number of tokens that were verified by their signature.
    private(set) var verified: UInt64 = 0
    /// The number of tokens that were known already.
    private(set) var known: UInt64 = 0
    /// The number of refused tokens, by the reason.
    private(set) var refused: [TokenRefusal: UInt64] = [:]

    mutating func countVerified() { verified += 1 }
    mutating func countKnown() { known += 1 }
    mutating func count(_ refusal: TokenRefusal) { refused[refusal, default: 0] += 1 }

    /// Writes the numbers as metrics.
    ///
    /// - Parameters:
    ///   - text: The metrics page that is being written.
    ///   - repeated: The number of tokens that were known from the request before on the same connection.
    func write(to text: inout MetricsText, repeated: UInt64) {
        text.header("tokens_accepted_total", .counter, "JSON Web Tokens that were accepted: verified, or known from before.")
        text.sample("tokens_accepted_total", [("by", "signature")], Double(verified))
        text.sample("tokens_accepted_total", [("by", "cache")], Double(known + repeated))
        text.header("tokens_refused_total", .counter, "JSON Web Tokens that were refused, by the reason.")
        for refusal in TokenRefusal.allCases {
            text.sample("tokens_refused_total", [("reason", refusal.rawValue)], Double(refused[refusal] ?? 0))
        }
    }
}
