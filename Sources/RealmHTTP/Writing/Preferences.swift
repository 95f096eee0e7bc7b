// SPDX-License-Identifier: Apache-2.0

/// What `Prefer` (RFC 7240) asks for. Anything unknown is no preference and stays unanswered.
struct Preferences: Sendable {
    enum Return: String, Sendable { case minimal, representation }

    /// What of the result the answer should carry; nil leaves it to the request.
    private(set) var returns: Return?
    /// Whether members that a class does not have are ignored.
    private(set) var isLenient = false
    /// Whether `handling` was given.
    private var hasHandling = false
    private(set) var isAsynchronous = false

    /// Reads the header field; the first of several equal names counts.
    init(_ request: Request) {
        guard let text = request.headers[.prefer] else { return }
        var seen: Set<String> = []
        for part in text.split(separator: ",") {
            let preference = part.prefix { $0 != ";" }
            let pieces = preference.split(separator: "=", maxSplits: 1).map(Preferences.trimmed)
            guard let name = pieces.first?.lowercased(), seen.insert(name).inserted else { continue }
            take(name, pieces.count > 1 ? pieces[1] : "")
        }
    }

    private mutating func take(_ name: String, _ value: String) {
        switch name {
        case "return": returns = Return(rawValue: value.lowercased())
        case "handling":
            guard ["strict", "lenient"].contains(value.lowercased()) else { return }
            hasHandling = true
            isLenient = value.lowercased() == "lenient"
        case "respond-async": isAsynchronous = true
        default: break
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let inner = text.drop { " \t\"".contains($0) }
        return String(inner.reversed().drop { " \t\"".contains($0) }.reversed())
    }

    /// The value of `Preference-Applied`; nil when nothing was preferred that has an effect here.
    func applied(returns: Bool, handling: Bool, isAsynchronous: Bool) -> String? {
        var applied: [String] = []
        if returns, let wanted = self.returns { applied.append("return=" + wanted.rawValue) }
        if handling, hasHandling { applied.append(isLenient ? "handling=lenient" : "handling=strict") }
        if isAsynchronous { applied.append("respond-async") }
        return applied.isEmpty ? nil : applied.joined(separator: ", ")
    }
}
