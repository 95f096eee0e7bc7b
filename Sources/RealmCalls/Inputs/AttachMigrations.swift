// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The member `migrations` of a request that attaches a realm.
package enum AttachMigrations: Sendable {
    /// The steps of one migration, from any older version to the requested one.
    case steps([MigrationStep])
    /// Migrations from one version to a later one, of which those are carried out that the file needs.
    case chain(MigrationChain)
}
