// SPDX-License-Identifier: Apache-2.0

/// A request to change the type or the nullability of one property; made from a `changeProperty` step.
struct PropertyChange {
    /// The name of the class without the prefix of its table.
    let className: String
    /// The name of the property, which it keeps.
    let name: String
    /// Whether the property may be null afterwards; nil leaves this unchanged.
    let optional: Bool?
    /// The name of the new type, as `PropertyType` spells it; nil leaves the type unchanged or takes it
    /// from the conversion.
    let type: String?
    /// The name of a `ValueConversion`; required when the type changes.
    let conversion: String?
    /// The value that replaces nulls; without it nulls that become impossible count as lost data.
    let nullValue: InputValue?
}
