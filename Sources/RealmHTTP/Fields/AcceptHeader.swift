// SPDX-License-Identifier: Apache-2.0

/// The value of `Accept`: what a client takes, and how gladly.
package struct AcceptHeader: Sendable {
    /// One range with its weight from 0 to 1.
    package struct Entry: Sendable {
        package let range: MediaType
        package let weight: Double
    }

    /// The ranges in the order in which the client wrote them.
    package let entries: [Entry]

    /// Unreadable members are left out, as if they named something this server does not have.
    package init(_ text: String) {
        entries = text.split(separator: ",").compactMap { part in
            guard let range = MediaType(part) else { return nil }
            let weight = range.parameters["q"].map { Double($0) ?? 0 } ?? 1
            return Entry(range: range, weight: min(max(weight, 0), 1))
        }
    }

    /// The weight of `essence`: that of the most specific range which covers it.
    package func weight(of essence: String) -> Double { best(for: essence)?.weight ?? 0 }

    /// The most specific entry that covers `essence`, with its parameters.
    package func best(for essence: String) -> Entry? {
        let type = essence.prefix { $0 != "/" }
        return entries.first { $0.range.essence == essence }
            ?? entries.first { $0.range.type == type && $0.range.subtype == "*" }
            ?? entries.first { $0.range.essence == "*/*" }
    }

    /// Whether `essence` itself stands there with a weight above 0.
    package func names(_ essence: String) -> Bool { entries.contains { $0.range.essence == essence && $0.weight > 0 } }
}
