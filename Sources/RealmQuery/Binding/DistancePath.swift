// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// The way from the objects of a class to a location, for showing how far that is from a place.
///
/// It belongs to one snapshot. It never changes, so any thread may use it.
package final class DistancePath: Sendable {
    /// A link on the way, and the class that it leads to.
    private struct Step: Sendable {
        /// The column of the link.
        let column: Column
        /// The class of the objects that it leads to.
        let target: Table
    }

    private let steps: [Step]
    private let origin: GeoPoint

    /// Resolves the path of a term.
    ///
    /// - Parameters:
    ///   - table: The class at which the path starts.
    ///   - snapshot: The version of the class.
    ///   - mapping: Other names of classes and properties.
    /// - Throws: `QueryError.invalid` when the path does not lead to a location over links to one object.
    package init(
        _ term: DistanceTerm, from table: Table, in snapshot: Snapshot, mapping: KeyPathMapping
    ) throws(QueryError) {
        var resolver = PathResolver(snapshot: snapshot, mapping: mapping, pool: ConstantPool())
        resolver.text = term.path
        let elements = try Parser.parsePath(term.path)
        steps = try resolver.locationLinks(elements, from: table).map { Step(column: $0.column, target: $0.target) }
        origin = term.origin
    }

    /// The column of the first link, which belongs to the class at which the path starts.
    package var column: Column { steps[0].column }

    /// Returns the distance of an object's location in metres; nil when there is none.
    ///
    /// - Parameter row: An object of the class at which the path starts.
    /// - Throws: `StorageError` for a damaged file.
    package func metres(from row: Row) throws(StorageError) -> Double? {
        var row = row
        for step in steps {
            guard case .link(_, let key) = try row.value(step.column), let next = try step.target.find(key) else { return nil }
            row = next
        }
        guard let target = steps.last?.target, let reader = DistanceReader(target, from: origin) else { return nil }
        return try reader.angle(row).map { $0 * DistanceUnit.earthRadius }
    }
}
