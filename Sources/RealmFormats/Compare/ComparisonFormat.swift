// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The form of a comparison. The raw value is its name in requests and on the command line.
package enum ComparisonFormat: String, Sendable, CaseIterable {
    /// A line for each difference between a first and a last line.
    case ndjson
    /// One document with the same lines.
    case json
    /// A page to read and to print, without scripts or references to other files.
    case html
    /// Lines for a terminal.
    case text

    package var mediaType: StaticString {
        switch self {
        case .ndjson: return "application/x-ndjson"
        case .json: return "application/json"
        case .html: return "text/html; charset=utf-8"
        case .text: return "text/plain; charset=utf-8"
        }
    }

    /// The names of all forms, as a sentence lists them.
    package static var list: String { "ndjson, json, html and text" }

    func writer(_ realms: ComparedRealms) -> any DifferenceWriter {
        switch self {
        case .ndjson: DifferenceLines(realms, isDocument: false)
        case .json: DifferenceLines(realms, isDocument: true)
        case .html: DifferencePage(realms)
        case .text: DifferenceText(realms)
        }
    }
}
