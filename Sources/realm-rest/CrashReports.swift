// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What Swift prints when the process crashes: where it was, but neither registers nor the memory that they point to, which
/// may hold keys and values.
enum CrashReports {
    static let setting = "SWIFT_BACKTRACE"

    /// The settings are read before the program begins, so it begins once more with them; as the same process. Whoever set
    /// something is left alone.
    static func hideValues() {
        guard unsafe getenv(setting) == nil, unsafe setenv(setting, "registers=none,images=none", 1) == 0 else { return }
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        // Without /proc it goes on as it is.
    }
}
