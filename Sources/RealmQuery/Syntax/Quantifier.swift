// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// States how many values of a multi-valued operand have to fulfil a comparison. Without one, `ANY`
/// applies, unless both sides are multi-valued: then they are compared element by element.
enum Quantifier: String, Sendable {
    /// At least one value has to fulfil the comparison; false when there is no value. `SOME` is a synonym.
    case any = "ANY"
    /// Every value has to fulfil the comparison; true when there is no value.
    case all = "ALL"
    /// No value may fulfil the comparison; true when there is no value.
    case none = "NONE"
}
