// SPDX-License-Identifier: Apache-2.0

import RealmQuery
import RealmTestSupport

enum VectorShapes {
    static func argument(_ tag: String, _ value: JSONValue) throws -> QueryArgument {
        throw VectorArguments.Unknown(value: value)
    }
}
