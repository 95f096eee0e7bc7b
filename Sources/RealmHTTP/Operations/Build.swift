// SPDX-License-Identifier: Apache-2.0

/// What this program is.
package enum Build {
    /// The version of the program, as `--version`, the metrics and the API description have it.
    package static let version = "0.1.0"
}
