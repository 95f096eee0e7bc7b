// SPDX-License-Identifier: Apache-2.0

/// What this program is.
package enum Build {
    package static let version = "0.1.0"
}
