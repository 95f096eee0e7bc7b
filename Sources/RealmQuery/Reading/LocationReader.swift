// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Reads locations: objects of an embedded class with a string `type` and a list of double `coordinates`.
///
/// An object is a point if its type is `Point` in any letter case and it has at least two
/// coordinates. A reader keeps the leaves that it read last, so it is used by one thread at a time.
final class LocationReader {
    /// The properties that make an embedded class one of locations.
    static let propertyNames = ["type", "coordinates"]

    private let type: ColumnReader
    private let coordinates: ColumnReader
    private let pointType = ByteStorage("Point")

    /// Creates a reader for the objects of a class, if they can be locations.
    ///
    /// - Parameters:
    ///   - table: The class of the objects.
    ///   - cancellation: The check that limits the leaves which the readers of the query keep.
    /// - Returns: Nil when the class is not embedded, or lacks one of the two properties.
    init?(_ table: Table, _ cancellation: CancellationCheck? = nil) {
        guard table.kind == .embedded, let type = table.column(named: "type"),
            let coordinates = table.column(named: "coordinates"), type.type == .string, type.collection == nil,
            coordinates.type == .double, coordinates.collection == .list
        else { return nil }
        self.type = ColumnReader(type, cancellation)
        self.coordinates = ColumnReader(coordinates, cancellation)
    }

    /// Returns the longitude and latitude of an object in degrees; nil when it is not a point. The range is not checked.
    func location(_ row: borrowing Row) throws(StorageError) -> (longitude: Double, latitude: Double)? {
        guard case .string(let text) = try type.value(row), text.equals(pointType.view, ignoringCase: true) else { return nil }
        return try LocationReader.point(try coordinates.root(row), row.leaf.space, coordinates.column.elementShape)
    }

    /// Returns the first two coordinates of a list; nil when there are fewer, or one of them is null.
    private static func point(
        _ root: Ref, _ space: NodeSpace, _ shape: ElementShape
    ) throws(StorageError) -> (longitude: Double, latitude: Double)? {
        guard !root.isNone else { return nil }
        if let leaf = try DoubleLeaf(ofShortList: root, space) {
            guard leaf.count >= 2, let longitude = leaf.double(0), let latitude = leaf.double(1) else { return nil }
            return (longitude, latitude)
        }
        let list = try ListView(root: root, space: space, shape: shape)
        guard list.count >= 2, case .double(let longitude) = try list.value(at: 0),
            case .double(let latitude) = try list.value(at: 1)
        else { return nil }
        return (longitude, latitude)
    }

    /// The locations of one leaf, whose columns are attached.
    struct Leaf {
        fileprivate let types: ColumnLeaf
        fileprivate let coordinates: Node
        fileprivate let space: NodeSpace
        fileprivate let shape: ElementShape
        fileprivate let pointType: ByteStorage

        /// Returns the longitude and latitude of an object of the leaf in degrees; nil when it is not a point.
        func location(_ row: Int) throws(StorageError) -> (longitude: Double, latitude: Double)? {
            guard case .string(let texts) = types, let text = try texts.string(row),
                text == pointType.view || text.equals(pointType.view, ignoringCase: true)
            else { return nil }
            return try LocationReader.point(try coordinates.optionalRef(row, "coordinates"), space, shape)
        }
    }

    /// Attaches the columns of a leaf; throws a storage error when the file is damaged.
    func attach(_ leaf: ClusterLeaf) throws(StorageError) -> Leaf {
        Leaf(
            types: try leaf.attach(type.column), coordinates: try leaf.attachRefs(coordinates.column), space: leaf.space,
            shape: coordinates.column.elementShape, pointType: pointType)
    }

    /// Returns whether an object is a point inside a region.
    func lies(_ row: borrowing Row, in region: GeoRegion) throws(StorageError) -> Bool {
        guard let place = try location(row) else { return false }
        return region.contains(longitude: place.longitude, latitude: place.latitude)
    }
}
