// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A request to change the type, the nullability or the kind of collection of one property: the
/// `changeProperty` step of a migration.
package struct PropertyChange: Sendable {
    /// The name of the class without the prefix of its table.
    package let className: String
    /// The name of the property, which it keeps.
    package let name: String
    /// Whether the property may be null afterwards; nil leaves this unchanged.
    package var optional: Bool?
    /// The name of the new type, as `PropertyType` spells it; nil leaves the type unchanged or takes it
    /// from the conversion.
    package var type: String?
    /// The name of a `ValueConversion` or a `CollectionConversion`; required when the type changes.
    package var conversion: String?
    /// The value that replaces nulls; without it nulls that become impossible count as lost data.
    package var nullValue: InputValue?
    /// What becomes of a value that the conversion does not accept; nil means an error. It needs a
    /// conversion.
    package var onFailure: ConversionFailure?
    /// Whether the conversion may round numbers; nil means that it may not. It needs a conversion.
    package var rounding: NumberRounding?

    /// Makes a change of a property that changes nothing yet.
    package init(_ className: String, _ name: String) {
        self.className = className
        self.name = name
    }
}
