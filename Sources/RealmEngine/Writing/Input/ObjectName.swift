// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Identifies one object of a class in a request.
package enum ObjectName: Sendable {
    /// A key text as in URLs and link stubs; its meaning depends on the primary key of the class. See
    /// `KeyText`.
    case text(String)
    /// The internal key that the file stores for the object.
    case objectKey(ObjectKey)
    case primaryKey(InputValue)
    /// The name under which the object was created earlier in the same session.
    case reference(String)
}
