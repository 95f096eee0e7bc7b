// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The preferences of a client from the header field `Prefer` (RFC 7240).
///
/// An unknown preference, and a known one with an unknown value, is ignored, as that document
/// demands. It is then missing from `Preference-Applied`.
package struct Preferences: Sendable {
    /// The values of `return`: a short answer, or one with the representation of the objects.
    package enum Return: String, Sendable { case minimal, representation }

    /// The value of `return`; nil leaves the amount of the response to the kind of request.
    package private(set) var returns: Return?
    /// Whether members that a class does not have are ignored (`handling=lenient`) rather than refused.
    package private(set) var isLenient = false
    /// Whether `handling` was given with a known value, so that it can be confirmed.
    private var hasHandling = false
    /// Whether the client prefers a response before the write is done (`respond-async`).
    package private(set) var isAsynchronous = false

    /// Reads the header field of a request. Of several preferences with one name the first is used, as RFC 7240 demands.
    package init(_ request: Request) {
        guard let text = request[.prefer] else { return }
        var seen: Set<ByteText> = []
        for part in text.split(separator: ",") {
            let preference = part.prefix { $0 != ";" }
            let pieces = preference.split(separator: "=", maxSplits: 1).map(Preferences.trimmed)
            guard let name = pieces.first?.lowercasedASCII, seen.insert(name).inserted else { continue }
            take(name, pieces.count > 1 ? pieces[1] : "")
        }
    }

    /// Records one preference, whose name is in lower case.
    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "return": returns = Return(rawValue: value.lowercasedASCII)
        case "handling":
            guard ["strict", "lenient"].contains(value.lowercasedASCII) else { return }
            hasHandling = true
            isLenient = value.lowercasedASCII == "lenient"
        case "respond-async": isAsynchronous = true
        default: break
        }
    }

    /// Returns the text without blanks and quotes at its ends.
    private static func trimmed(_ text: Substring) -> String {
        let inner = text.drop { " \t\"".contains($0) }
        return String(inner.reversed().drop { " \t\"".contains($0) }.reversed())
    }

    /// Returns the value of the header field `Preference-Applied`; nil when no preference took effect.
    ///
    /// The flags state which preferences this kind of request honours. Only those that the client gave are listed.
    ///
    /// - Parameters:
    ///   - returns: Whether `return` has an effect.
    ///   - handling: Whether `handling` has an effect.
    ///   - isAsynchronous: Whether the write is answered before it is done.
    package func applied(returns: Bool, handling: Bool, isAsynchronous: Bool) -> String? {
        var applied: [String] = []
        if returns, let wanted = self.returns { applied.append("return=" + wanted.rawValue) }
        if handling, hasHandling { applied.append(isLenient ? "handling=lenient" : "handling=strict") }
        if isAsynchronous { applied.append("respond-async") }
        return applied.isEmpty ? nil : applied.joined(separator: ", ")
    }
}
