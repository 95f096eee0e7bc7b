// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// Which object of a class is meant.
package enum ObjectName: Sendable {
    /// A key as it is written in addresses and stubs; what it means depends on the primary key.
    case text(String)
    /// The key that the file stores for the object.
    case objectKey(ObjectKey)
    /// A primary key value.
    case primaryKey(InputValue)
    /// An object made under this name earlier in the same session.
    case reference(String)
}
