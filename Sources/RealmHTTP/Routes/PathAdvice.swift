// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Suggests paths in the place of one that does not exist.
///
/// Only paths that the API description has are proposed; they are the same for all clients.
enum PathAdvice {
    /// Paths with more segments than any pattern has are not compared.
    private static let segmentLimit = 12

    /// Returns the end of an error text about a path that no route has; empty without a suggestion.
    static func hint(for target: RequestTarget) -> String {
        let segments = target.segments.indices.prefix(segmentLimit + 1).map {
            String(decoding: target.segment($0), as: UTF8.self)
        }
        guard !segments.isEmpty, segments.count <= segmentLimit else { return "" }
        let plain = segments.filter { !$0.isEmpty }
        if plain.count < segments.count {
            let reason = segments.dropLast().contains("") ? "no segment of a path is empty" : "a path has no slash at its end"
            return matches(plain) ? "; \(reason): \(path(plain))" : ""
        }
        if segments[0] != "v1", matches(["v1"] + segments) { return "; did you mean '\(path(["v1"] + segments))'?" }
        if let near = nearest(segments) { return "; did you mean '\(path(near))'?" }
        return continuation(segments) ?? place(segments)
    }

    /// Returns the continuation of a path that ends too early, before the name of a class; nil for other paths.
    private static func continuation(_ segments: [String]) -> String? {
        for route in RouteTable.routes where route.isServed && !route.traits.contains(.isHidden) {
            let pattern = route.pattern.segments
            guard pattern.count == segments.count + 1, case .variable(let last)? = pattern.last, last != .path else { continue }
            let fits = zip(pattern, segments).allSatisfy { part, segment in
                if case .word(let word) = part { return word == segment }
                return true
            }
            if fits { return "; the path continues: \(path(segments))/{\(last.label)}" }
        }
        return nil
    }

    /// Whether some segments are a path.
    private static func matches(_ segments: [String]) -> Bool {
        let match = RouteTable.match(RequestTarget(Array(("/" + segments.joined(separator: "/")).utf8)))
        let route = RouteTable.routes[match.index]
        return match.index != 0 && route.isServed && !route.traits.contains(.isHidden)
    }

    /// Returns the path that differs in one misspelt word; nil when there is none.
    private static func nearest(_ segments: [String]) -> [String]? {
        for route in RouteTable.routes where route.isServed && !route.traits.contains(.isHidden) {
            let pattern = route.pattern.segments
            guard pattern.count == segments.count, !pattern.isEmpty else { continue }
            var corrected = segments
            var mistakes = 0
            for (index, part) in pattern.enumerated() {
                guard case .word(let word) = part, word != segments[index] else { continue }
                mistakes += Suggestion.nearest(to: segments[index], in: [word]) == nil || word.isEmpty ? 2 : 1
                corrected[index] = word
            }
            if mistakes == 1 { return corrected }
        }
        return nil
    }

    /// Returns where the things of a realm are, for a path that leads into a realm.
    private static func place(_ segments: [String]) -> String {
        guard segments.count > 3, segments[0] == "v1", segments[1] == "realms" else { return "" }
        return "; the objects of a class are at \(path(Array(segments.prefix(3))))/objects/{class}, one of them at …/{key}"
    }

    /// A path as error texts show it.
    private static func path(_ segments: [String]) -> String { ("/" + segments.joined(separator: "/")).truncated }
}

extension RequestTarget {
    /// The path as the log shows it for a request that found nothing, up to the name of the class: the rest may be the key of an
    /// object.
    var pathInLog: String {
        let shown = 5
        guard segments.count > shown else { return path.truncated }
        let start = String(decoding: bytes[segments[0].lowerBound..<segments[shown - 1].upperBound], as: UTF8.self)
        return ("/" + start).truncated + "/…"
    }
}
