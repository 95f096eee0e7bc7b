// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Reads locations: objects of an embedded class with a string `type` and a list of double `coordinates`.
///
/// An object is a point if its type is `Point` in any letter case and it has two coordinates at least. Keeps what it
/// read last, so a reader is used by one thread at a time.
final class LocationReader {
    private let type: ColumnReader
    private let coordinates: ColumnReader
    private let pointType = ByteStorage("Point")

    /// A reader for the objects of `table`, or nil if they are no locations.
    init?(_ table: Table) {
        guard table.kind == .embedded, let type = table.column(named: "type"),
            let coordinates = table.column(named: "coordinates"), type.type == .string, type.collection == nil,
            coordinates.type == .double, coordinates.collection == .list
        else { return nil }
        self.type = ColumnReader(type)
        self.coordinates = ColumnReader(coordinates)
    }

    /// Longitude and latitude in degrees; nil when the object is no point.
    func location(_ row: borrowing Row) throws(StorageError) -> (longitude: Double, latitude: Double)? {
        guard case .string(let text) = try type.value(row), text.equals(pointType.view, ignoringCase: true) else { return nil }
        let root = try coordinates.root(row)
        guard !root.isNone else { return nil }
        let list = try ListView(root: root, space: row.leaf.space, shape: coordinates.column.elementShape)
        guard list.count >= 2, case .double(let longitude) = try list.value(at: 0),
            case .double(let latitude) = try list.value(at: 1)
        else { return nil }
        return (longitude, latitude)
    }

    /// Does the object lie in `region`?
    func lies(_ row: borrowing Row, in region: GeoRegion) throws(StorageError) -> Bool {
        guard let place = try location(row) else { return false }
        return region.contains(longitude: place.longitude, latitude: place.latitude)
    }
}
