// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How the values of a property become those of the changed property.
///
/// It is made from the members of a `changeProperty` step, all of whose names are known then. Whether the
/// conversion fits the property is checked by `type(of:wanted:)` and `collection(of:)`.
struct PropertyConversion {
    /// The conversion of each value; nil when values keep their type.
    let value: ValueConversion?
    /// The conversion between kinds of collections; nil when the kind remains.
    private let kind: CollectionConversion?
    /// The fallback for a value that cannot be converted.
    let onFailure: PropertyChange.Failure
    /// Whether numbers may be rounded.
    let rounding: PropertyChange.Rounding

    /// The name of the conversion for messages; empty when there is none.
    var name: String { value?.name ?? kind?.rawValue ?? "" }

    /// Finds the conversion that a step names.
    ///
    /// - Throws: `WriteError` with the code `invalidSchema` for a name that no conversion has, and for
    ///   members that need a conversion.
    init(_ change: PropertyChange) throws(WriteError) {
        onFailure = change.onFailure ?? .error
        rounding = change.rounding ?? .exact
        value = change.conversion.flatMap { ValueConversion.named($0) }
        kind = change.conversion.flatMap { CollectionConversion(rawValue: $0) }
        if let name = change.conversion, value == nil, kind == nil {
            var error = WriteSession.invalid("'\(name)' is not a conversion", "conversion")
            error.unknownName = (
                name: name, known: ValueConversion.all.map(\.name) + CollectionConversion.allCases.map(\.rawValue)
            )
            throw error
        }
        guard change.onFailure == nil || change.conversion != nil else {
            throw WriteSession.invalid("'onFailure' needs a conversion", "onFailure")
        }
        guard change.rounding == nil || value != nil else {
            throw WriteSession.invalid("'rounding' needs a conversion of values", "rounding")
        }
    }

    /// Returns the type of the changed property.
    ///
    /// - Parameters:
    ///   - column: The present property.
    ///   - wanted: The name of the type that the step asks for; nil takes the conversion's.
    /// - Throws: `WriteError` with the code `invalidSchema` for an unknown type, and for a conversion that
    ///   does not lead from the one type to the other.
    func type(of column: Column, wanted: String?) throws(WriteError) -> PropertyType {
        let old = PropertyType(column.type)
        var type = value?.target ?? old
        if let name = wanted {
            guard let known = PropertyType(rawValue: name) else { throw WriteSession.invalid("'\(name)' is not a type", "type") }
            type = known
        }
        if let value, value.target != type || value.source.map({ $0 != old }) ?? false {
            throw WriteSession.invalid("this conversion does not lead from \(old.rawValue) to \(type.rawValue)", "conversion")
        }
        guard type == old || value != nil else {
            let names = ValueConversion.all.filter { $0.source == old && $0.target == type }.map(\.name)
            let hint = names.isEmpty ? ", and there is none" : ": " + names.joined(separator: ", ")
            throw WriteSession.invalid(
                "a change from \(old.rawValue) to \(type.rawValue) needs a conversion\(hint)", "conversion")
        }
        return type
    }

    /// Returns the kind of collection of the changed property; nil for single values.
    ///
    /// - Parameter column: The present property.
    /// - Throws: `WriteError` with the code `invalidSchema` for a conversion that starts from another kind.
    func collection(of column: Column) throws(WriteError) -> CollectionKind? {
        guard let kind else { return column.collection }
        guard kind.source == column.collection else {
            let present = column.collection.map { "a \($0.name)" } ?? "a single value"
            throw WriteSession.invalid("'\(kind.rawValue)' does not fit: the property is \(present)", "conversion")
        }
        return kind.target
    }
}

/// The conversions between single values and collections, under the names that migrations use. The type of the values remains.
enum CollectionConversion: String, CaseIterable {
    /// A list as the set of its elements. Elements that are equal to others count as lost data.
    case listToSet = "list-to-set"
    /// A set as the list of its members, in the order in which they are stored.
    case setToList = "set-to-list"
    /// A value as the list of this one element; null as an empty list.
    case singleToList = "single-to-list"
    /// A value as the set of this one member; null as an empty set.
    case singleToSet = "single-to-set"
    /// A list of at most one element as this element, or null. A longer list cannot be converted.
    case listToSingle = "list-to-single"
    /// A set of at most one member as this member, or null. A larger set cannot be converted.
    case setToSingle = "set-to-single"

    /// The kind of collection that is converted; nil for a single value.
    var source: CollectionKind? {
        switch self {
        case .listToSet, .listToSingle: return .list
        case .setToList, .setToSingle: return .set
        case .singleToList, .singleToSet: return nil
        }
    }

    /// The kind of collection that results; nil for a single value.
    var target: CollectionKind? {
        switch self {
        case .listToSet, .singleToSet: return .set
        case .setToList, .singleToList: return .list
        case .listToSingle, .setToSingle: return nil
        }
    }
}
