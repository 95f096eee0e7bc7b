// SPDX-License-Identifier: Apache-2.0

/// The identity of this program, which its metrics and documents state.
package enum Build {
    /// The version of the program, as `--version`, the metrics and the API description state it.
    package static let version = "0.1.0"
}
