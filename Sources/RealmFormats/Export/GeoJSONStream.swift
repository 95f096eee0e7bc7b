// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes the objects of one class as a GeoJSON collection of features (RFC 7946).
///
/// `@unchecked Sendable`: the daemon asks for one chunk at a time, and one worker makes it.
package final class GeoJSONStream: ChunkProducer, @unchecked Sendable {
    private let rows: StreamRows
    /// The way from an object to its location: embedded objects, the last of which is the location.
    private let path: [Column]
    /// Writes the other properties.
    private let encoder: ObjectEncoder
    /// Whether the beginning, and whether a feature, was written.
    private var (hasBegun, hasFeature) = (false, false)
    /// The depth to which a location is searched.
    private static let maximumDepth = 4

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - rows: Objects of one class.
    ///   - geometry: The path to the location, with dots; nil for the first one that is found.
    /// - Throws: `invalid_parameter` when there is no location at the path, or none at all.
    package init(_ rows: StreamRows, geometry: String?) throws(Problem) {
        self.rows = rows
        encoder = ObjectEncoder(rows.snapshot, Representation(includesMeta: false), rows.budget)
        guard let table = rows.parts.first?.table else { throw Problem(.classNotFound, "there is no class of this name") }
        let found =
            geometry.map { GeoJSONStream.path($0, from: table, in: rows.snapshot) }
            ?? GeoJSONStream.search(table, rows.snapshot, GeoJSONStream.maximumDepth)
        guard let path = found else {
            throw .invalidParameter(
                geometry == nil ? "class" : "geometry",
                "GeoJSON needs a location: an embedded object with 'type' and 'coordinates', as geospatial queries do")
        }
        self.path = path
    }

    /// Returns the class of the embedded object in a single property; nil for any other property.
    private static func embedded(_ column: Column, _ snapshot: Snapshot) -> Table? {
        guard column.collection == nil, column.type == .link,
            let table = column.targetTable.flatMap({ snapshot.table($0) }), table.kind == .embedded
        else { return nil }
        return table
    }

    /// Whether objects of a class are locations.
    private static func isLocation(_ table: Table) -> Bool {
        guard let type = table.column(named: "type"), let coordinates = table.column(named: "coordinates") else { return false }
        return type.type == .string && type.collection == nil && coordinates.type == .double && coordinates.collection == .list
    }

    /// Follows a path; nil when it leads to no location.
    private static func path(_ text: String, from table: Table, in snapshot: Snapshot) -> [Column]? {
        var (table, path) = (table, [Column]())
        for name in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard let column = table.column(named: String(name)), let target = embedded(column, snapshot) else { return nil }
            path.append(column)
            table = target
        }
        return isLocation(table) && !path.isEmpty ? path : nil
    }

    /// Finds the nearest location; nil when there is none within a depth.
    private static func search(_ table: Table, _ snapshot: Snapshot, _ depth: Int) -> [Column]? {
        var ways: [(path: [Column], table: Table)] = [([], table)]
        for _ in 0..<depth {
            var next: [(path: [Column], table: Table)] = []
            for way in ways {
                for column in way.table.columns {
                    guard let target = embedded(column, snapshot) else { continue }
                    if isLocation(target) { return way.path + [column] }
                    next.append((way.path + [column], target))
                }
            }
            ways = next
        }
        return nil
    }

    package func produce(into buffer: OutputBuffer) throws -> Bool {
        rows.beginChunk()
        if !hasBegun {
            hasBegun = true
            buffer.append("{\"type\":\"FeatureCollection\",\"features\":[" as StaticString)
        }
        let isEnd = try rows.fill(buffer) { row, part in
            rows.budget.beginPart(at: buffer.count)
            buffer.append((hasFeature ? ",\n" : "\n") as StaticString)
            hasFeature = true
            try write(row, part, buffer)
        }
        if isEnd { buffer.append("\n]}\n" as StaticString) }
        return isEnd
    }

    /// Writes a feature. One without a location has a null geometry, as the standard has it.
    private func write(_ row: Row, _ part: StreamRows.Part, _ buffer: OutputBuffer) throws(StorageError) {
        buffer.append("{\"type\":\"Feature\",\"id\":" as StaticString)
        buffer.append(jsonString: try KeyText.text(of: row, in: part.table))
        buffer.append(",\"geometry\":" as StaticString)
        if let coordinates = try coordinates(of: row) {
            buffer.append("{\"type\":\"Point\",\"coordinates\":[" as StaticString)
            for (index, number) in coordinates.enumerated() {
                if index > 0 { buffer.append(UInt8(ascii: ",")) }
                _ = buffer.append(shortest: number)
            }
            buffer.append("]}" as StaticString)
        } else {
            buffer.append("null" as StaticString)
        }
        buffer.append(",\"properties\":" as StaticString)
        var writer = JSONWriter(buffer)
        try encoder.write(row, part.plan, to: &writer)
        buffer.append(UInt8(ascii: "}"))
    }

    /// Returns the coordinates of an object: longitude, latitude, and perhaps the height.
    private func coordinates(of row: Row) throws(StorageError) -> [Double]? {
        var row = row
        for column in path {
            guard case .link(let tableKey, let key) = try row.value(column),
                let next = try rows.snapshot.table(tableKey)?.find(key)
            else { return nil }
            row = next
        }
        guard let table = path.last?.targetTable.flatMap({ rows.snapshot.table($0) }),
            let type = table.column(named: "type"), let column = table.column(named: "coordinates"),
            case .string(let text) = try row.value(type), text.string.lowercasedASCII == "point"
        else { return nil }
        var elements = try row.list(column, in: rows.snapshot).elements()
        var numbers: [Double] = []
        while let element = try elements.next(), numbers.count < 3 {
            guard case .double(let number) = element, number.isFinite else { return nil }
            numbers.append(number)
        }
        return numbers.count >= 2 ? numbers : nil
    }
}
