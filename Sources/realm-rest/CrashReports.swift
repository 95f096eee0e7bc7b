// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import RealmPlatform
internal import RealmStorage

/// Controls what Swift prints when the process crashes.
///
/// The backtrace is printed, but neither registers nor the memory that they point to, because
/// that may contain keys and values of users.
enum CrashReports {
    /// The environment variable with which the Swift runtime is configured.
    static let setting = "SWIFT_BACKTRACE"

    /// Starts the program again with a setting that hides values, unless the user has
    /// configured the variable.
    ///
    /// The runtime reads its settings before `main`, so the process replaces itself by the same
    /// program; its id and its open files remain. If that is not possible, it continues without
    /// the setting.
    static func hideValues() {
        guard unsafe getenv(setting) == nil, unsafe setenv(setting, "registers=none,images=none", 1) == 0 else { return }
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        // Without /proc the program continues as it is.
    }
}
