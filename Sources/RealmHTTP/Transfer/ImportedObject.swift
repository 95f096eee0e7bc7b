// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// An object on its way in.
struct ImportedObject: Sendable {
    let place: RecordPlace
    let className: String
    /// The key it had where it comes from.
    let key: String?
    let body: ObjectBodies.Reading

    var line: Int { place.line }
}
