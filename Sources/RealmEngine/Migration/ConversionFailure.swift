// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What becomes of a value that a conversion does not accept. The raw values are those of the member
/// `onFailure`.
package enum ConversionFailure: String, Sendable, CaseIterable {
    /// The step fails, and names the object.
    case error
    /// The value becomes null, which the new property has to allow.
    case null
    /// The value becomes `nullValue`, or the default value of the new type when there is none.
    case `default`
}
