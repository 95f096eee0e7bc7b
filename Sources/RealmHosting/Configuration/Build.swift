// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The identity of this program, which its metrics and documents state.
package enum Build {
    /// The name of the program.
    package static let name = "realm-rest"
    /// The version of the program, as `--version`, `/v1/version`, the metrics, the API description and the packages state it. It is
    /// stated nowhere else.
    package static let version = "0.1.0"
}
