// SPDX-License-Identifier: Apache-2.0

import RealmAccess
import RealmFormats
import RealmHTTP
@testable import RealmHosting

extension ServerOptions {
    /// Options of a server under test: any free port of loopback, no log, no wait for open streams at the end, and time
    /// enough for every request on a machine that runs the whole suite at once. Tests of time limits set their own.
    static func forTests() -> ServerOptions {
        var options = ServerOptions()
        options.port = 0
        options.logFormat = nil
        options.graceSeconds = 0
        options.limits.readSeconds = 120
        options.limits.writeSeconds = 120
        options.limits.importSeconds = 600
        options.limits.transactionIdleSeconds = 30
        options.limits.transactionSeconds = 120
        return options
    }
}
