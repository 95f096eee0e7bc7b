// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import MicroHTTP
@testable import RealmCalls
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Paths find the routes that a comparison with each pattern finds.
@Suite struct RouterTests {
    /// Whether a segment of a path is what a segment of a pattern asks for.
    private static func fits(_ segment: String, _ wanted: PathPattern.Segment) -> Bool {
        switch wanted {
        case .word(let word): segment == word || word.hasPrefix("@") && segment == "%40" + word.dropFirst()
        case .variable: !segment.isEmpty
        }
    }

    /// How fixed a pattern is, position by position: words go before variables.
    private static func rank(_ pattern: PathPattern) -> [Int] {
        pattern.segments.map { if case .word = $0 { 0 } else { $0 == .variable(.path) ? 2 : 1 } }
    }

    /// The label of the pattern that a path leads to; that of nothing when there is none.
    private static func naive(_ path: String) -> String {
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard !segments.dropLast().contains("") else { return RouteTable.routes[0].pattern.label }
        let found = RouteTable.routes.map(\.pattern).filter { pattern in
            let wanted = pattern.segments
            guard !wanted.isEmpty else { return false }
            if wanted.last == .variable(.path) {
                return segments.count >= wanted.count && segments.last != "" && zip(segments, wanted).allSatisfy(fits)
            }
            return segments.count == wanted.count && zip(segments, wanted).allSatisfy(fits)
        }
        return found.min { rank($0).lexicographicallyPrecedes(rank($1)) }?.label ?? RouteTable.routes[0].pattern.label
    }

    @Test func `short segments, escaped signs and slashes at the end lead where the patterns say`() {
        let paths = [
            "/", "//", "/a", "/ab", "/%4", "/%40", "/@", "/v1", "/v1/", "/v1/realms", "/v1/realms/", "/v1/realms//x", "/healthz/",
        ]
        for path in paths {
            let route = RouteTable.match(RequestTarget(Array(path.utf8))).pattern.label
            #expect(route == RouterTests.naive(path), "\(path)")
        }
    }

    @Test func `random paths of words, pieces of them and anything lead where the patterns say`() {
        var dice = SeededGenerator(seed: 20_261_128)
        let words = RouteTable.routes.flatMap(\.pattern.segments).compactMap { segment -> String? in
            if case .word(let word) = segment { word } else { nil }
        }
        for round in 0..<20_000 {
            var path = ""
            let begin = RouteTable.routes.randomElement(using: &dice)?.pattern.segments ?? []
            for segment in begin.prefix(Int.random(in: 0...8, using: &dice)) {
                var text: String
                if case .word(let word) = segment { text = word } else { text = words.randomElement(using: &dice) ?? "" }
                switch Int.random(in: 0..<12, using: &dice) {
                case 0: text = String(text.dropLast())
                case 1: text = text.replacingOccurrences(of: "@", with: "%40")
                case 2: text = "x"
                case 3: text += "%4"
                default: break
                }
                path += "/" + text
            }
            if Int.random(in: 0..<6, using: &dice) == 0 { path += ["/", "/ab", "//"].randomElement(using: &dice) ?? "" }
            if path.isEmpty { path = "/" }
            let route = RouteTable.match(RequestTarget(Array(path.utf8))).pattern.label
            #expect(route == RouterTests.naive(path), "seed 20261128, round \(round): \(path)")
        }
    }
}
