// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// One object of an import, read but not written.
package struct ImportedObject: Sendable {
    /// The place of its record in the input, from which it can be read again.
    package let place: RecordPlace
    /// The name of the class that the object belongs to.
    package let className: String
    /// The text of the key that it had where it comes from; nil when the input does not state one.
    package let key: String?
    /// The values of the object, or the error in them, which is reported when it is written.
    package var body: InputReader.Reading

    /// The line in which its record begins, from 1.
    package var line: Int { place.line }
}
