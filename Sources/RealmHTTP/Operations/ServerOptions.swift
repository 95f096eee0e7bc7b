// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmEngine
package import RealmStorage

/// How a server is started: everything that the command line and tests can choose.
package struct ServerOptions: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// 0 picks one.
    package var port = 8080
    /// `.realm` files, or folders of them.
    package var paths: [String] = []
    /// A folder whose files are served as far as they can be opened.
    package var dataFolder: String?
    /// Folders that paths in requests may lead into, beside the data folder.
    package var attachRoots: [String] = []
    /// How many copies are kept that were made before migrations.
    package var keptCopyCount = 1
    /// After how long realms are forgotten that only a request has named and that could not be opened.
    package var forgetsFailedAfterSeconds = 600.0
    /// Keys by the name of their realm.
    package var keys: [String: EncryptionKey] = [:]
    /// Looks a variable up in the environment: other keys are in `REALM_REST_KEY_NAME`.
    package var environment: @Sendable (String) -> String? = { _ in nil }
    /// Names of linking objects, by realm.
    package var backlinkNames: [String: BacklinkNames] = [:]
    /// Opens files for reading only, and refuses all writes.
    package var isReadOnly = false
    /// Whether files are looked through before they are written to.
    package var verification = FileStore.Verification.auto
    /// Whether files of older formats are brought to the present one, after a copy was made beside them.
    package var upgradesInPlace = false
    /// Names of empty realms that are kept in memory.
    package var memoryRealms: [String] = []
    /// Whether answers tell where their time went.
    package var showsTiming = false
    /// Whether clients may hold transactions over several requests.
    package var allowsTransactions = true
    /// Classes, as `realm.Class`, whose objects are only written under a condition.
    package var conditionalClasses: Set<String> = []
    /// Bounds for everything that clients can ask for.
    package var limits = Limits()
    /// The form of the log; nil writes none.
    package var logFormat: AccessLog.Format? = .json
    /// What is worth a line of the log at the start.
    package var logLevel = AccessLog.Level.info
    /// Where the engine logs opening, recovery, slow commits and refused states; silent unless it is set.
    package var logger = EngineLog.silent
    /// Names that clients may call the server by, beside those of its address.
    package var extraHosts: [String] = []
    /// Origins whose pages may use the server.
    package var corsOrigins: [String] = []
    /// Allows an address that is not loopback without credentials, and lets strangers read.
    package var isInsecure = false
    /// Where administrators have a listener of their own.
    package var admin = AdminAddress.automatic
    /// Whether this machine administers through the main listener when that is on loopback.
    package var administersOnMain = true
    /// How long running requests may take to finish when the server stops.
    package var graceSeconds = 10.0

    /// The usual options, which serve nothing.
    package init() {}
}
