// SPDX-License-Identifier: Apache-2.0

import RealmHTTP

/// The same under a name that tests can use beside the JSON of the test support.
typealias RealmServerOptions = ServerOptions
