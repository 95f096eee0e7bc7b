// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Limits of a principal that differ from those of the server, because a role of it says so.
package struct PrincipalLimits: Sendable, Equatable {
    /// The limits that a role may state, by their names among those of the server.
    package enum Name: String, Sendable, CaseIterable {
        /// The requests per second; 0 for any number.
        case rate
        /// The streams and waiting polls.
        case streams = "streams-per-principal"
        /// The registrations of subscriptions.
        case registrations
        case snapshots = "snapshots-per-principal"
        /// The interactive transactions in one realm.
        case transactions = "transactions-per-principal"
        case bodyBytes = "body-bytes"
        /// The bytes of the body of an import.
        case importBytes = "import-bytes"
        /// The bytes of all bodies that are being received, parsed or waiting.
        case waitingBytes = "waiting-bytes-per-principal"
        /// The seconds for one answer.
        case readSeconds = "read-seconds"
        case writeSeconds = "write-seconds"
    }

    /// The limits of the server that those of a principal take the place of.
    fileprivate static let paths = Name.allCases.compactMap { name in
        Limits.entries.first { $0.name == name.rawValue }.map { (name, $0.path) }
    }

    /// The limits that are stated.
    private var values: [Name: Int] = [:]

    /// Makes limits that are those of the server.
    package init() {}

    /// Whether no limit differs from that of the server.
    package var isEmpty: Bool { values.isEmpty }

    /// The value of a limit; nil for that of the server.
    package subscript(name: Name) -> Int? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Takes limits from others that are more generous, or not stated here.
    package mutating func widen(by other: PrincipalLimits) {
        for (name, value) in other.values {
            values[name] = values[name].map { name == .rate && min($0, value) == 0 ? 0 : max($0, value) } ?? value
        }
    }
}

extension Limits {
    /// Returns the limits that hold for a principal.
    ///
    /// - Parameter own: The limits of its roles; nil for none.
    package func holding(for own: PrincipalLimits?) -> Limits {
        guard let own else { return self }
        var limits = self
        for (name, path) in PrincipalLimits.paths {
            if let value = own[name] { limits[keyPath: path] = value }
        }
        return limits
    }
}
