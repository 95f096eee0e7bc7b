// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The form of an export. The raw value is its name in requests and on the command line.
package enum ExportFormat: String, Sendable, CaseIterable {
    /// A header line with the schema, a line for each object, and a trailer line.
    case ndjson
    /// One document with the schema and all objects.
    case json
    /// Comma-separated values of one class.
    case csv
    /// MongoDB's Extended JSON of one class, a line for each document.
    case ejson
    /// The objects of one class as GeoJSON features.
    case geojson
    /// A database of SQLite.
    case sqlite
    /// A script for PostgreSQL.
    case postgresql
    /// A workbook of Excel.
    case xlsx

    /// The media type. CSV has a line of column names (`header=present`, RFC 4180).
    package var mediaType: StaticString {
        switch self {
        case .ndjson: return "application/x-ndjson"
        case .json: return "application/json"
        case .csv: return "text/csv; charset=utf-8; header=present"
        case .ejson: return "application/ejson"
        case .geojson: return "application/geo+json"
        case .sqlite: return "application/vnd.sqlite3"
        case .postgresql: return "application/sql"
        case .xlsx: return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        }
    }

    /// The usual end of names of such files.
    package var suffix: String { self == .postgresql ? "sql" : rawValue }

    /// Whether the form has room for the objects of one class only.
    package var needsClass: Bool { [.csv, .ejson, .geojson].contains(self) }

    /// Whether the export is a file that has to be complete before its first byte can be sent.
    package var isFile: Bool { self == .sqlite || self == .xlsx }

    /// The names of all forms, as a sentence lists them.
    package static var list: String {
        let names = allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }
}
