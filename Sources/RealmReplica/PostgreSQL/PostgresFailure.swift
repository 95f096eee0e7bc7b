// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Why a server has not done what it was asked. The texts come from the server or the library, and name no credentials.
enum PostgresFailure: Error, Equatable {
    /// Nothing was sent: there is no connection.
    case unsent(String)
    /// It is unknown what the server has done: the connection was lost, or there was no answer in time.
    case lost(String)
    /// The server has refused a statement, and has done nothing.
    case refused(state: String, String)

    /// The reason in words.
    var text: String {
        switch self {
        case .unsent(let reason), .lost(let reason): return reason
        case .refused(let state, let reason): return "\(reason) (\(state))"
        }
    }
}
