// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A key together with the object that it refers to in a transaction. It is valid until the next change.
///
/// A replacement needs to know whether the object exists to evaluate conditions such as `If-Match`,
/// before the body is checked. With this value the key is looked up once for both.
package struct ResolvedKey: Sendable {
    /// The table of the class that the key belongs to.
    let table: TableKey
    let name: ObjectName
    /// The object that has the key; nil when there is none.
    package let place: ObjectPlace?
}
