// SPDX-License-Identifier: Apache-2.0

package import Logging
package import MicroHTTP
package import RealmAccess
package import RealmBackups
package import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// The options of a server: everything that the command line and tests can choose. They are fixed when the server is made.
package struct ServerOptions: Sendable {
    /// The address on which the server listens for clients.
    package var host = "127.0.0.1"
    /// The port on which the server listens for clients; with 0 the system assigns one.
    package var port = 8080
    /// The places at which the server listens for clients; with any, `host` and `port` do not count.
    package var listeners: [ListenAddress] = []
    /// The sockets that the service manager has handed over; those for clients take the place of all others.
    package var handedOver: [HandedSocket] = []
    /// The certificates with which connections are encrypted.
    package var tls = TLSOptions()
    /// Which certificates of clients mean which principals.
    package var certificateRules: [CertificateRule] = []
    /// The proxies whose statements about their clients are trusted.
    package var trustedProxies = TrustedProxies()
    /// Paths of `.realm` files to serve, or of folders with such files.
    package var paths: [String] = []
    /// Whether the server starts when a file in `paths` cannot be opened, as it does for those of a configuration
    /// file. It is listed as failed then, and tried again.
    package var startsWithoutFiles = false
    /// Whether the server starts when a file in `paths` lacks its key, which its page then asks for.
    package var opensWithoutKeys = false
    package var realms: [ConfiguredRealm] = []
    /// The name of the default realm; nil where it follows from the served realms.
    package var defaultRealm: String?
    /// The folder of the server's own files: those in it are served if they can be opened, and new
    /// realms are created in it. Nil for none.
    package var dataFolder: String?
    /// The folders from which requests may attach files, besides the data folder.
    package var attachRoots: [String] = []
    /// The layout of the files in the data folder.
    package var layout = DataFolder.Layout.flat
    /// The seconds without use after which a realm is closed until the next request; 0 for never.
    package var idleSeconds = 300.0
    /// The number of realms that may be open at the same time; nil for the limit `realms`.
    package var openLimit: Int?
    /// The number of copies before migrations that are kept per realm.
    package var keptCopyCount = 1
    /// The former versions that the commits of realms keep which do not state it.
    package var retention = Retention.none
    /// The seconds after which a realm is forgotten that could not be opened and that only a request has named.
    package var forgetsFailedAfterSeconds = 600.0
    /// The schedule and the target of automatic backups; nil for none.
    package var backupPlan: BackupPlan?
    /// The target of the shipped commits of the realms.
    package var ship = ShipPlan()
    /// Which cluster the server is a node of.
    package var cluster = ClusterOptions()
    /// The encryption keys, by the name of their realm.
    package var keys: [ByteText: EncryptionKey] = [:]
    /// Looks up a variable of the environment. Keys that are not in `keys` are read from `REALM_REST_KEY_NAME`.
    package var environment: @Sendable (String) -> String? = { _ in nil }
    /// The names of the variables of the environment that begin with `REALM_REST_`; unknown ones are reported at start.
    package var environmentNames: [String] = []
    /// The names of linking objects, by the name of the realm.
    package var backlinkNames: [ByteText: BacklinkNames] = [:]
    /// Whether files are opened for reading only and all writes are refused.
    package var isReadOnly = false
    /// Whether the files of the command line and the data folder are followed, because other programs write them.
    package var followsFiles = false
    /// Whether private copies of the files of the command line and the data folder are served.
    package var copiesFiles = false
    /// The policy for verifying whole files before the first write.
    package var verification = FileStore.Verification.auto
    /// Whether files of older formats are upgraded to the current one, after a copy was made in the same folder.
    package var upgradesInPlace = false
    /// The names of realms that start empty and are kept in memory only.
    package var memoryRealms: [String] = []
    /// Whether the server has pages for people: the console and the documents.
    package var showsConsole = true
    /// Whether responses carry `Server-Timing`.
    package var showsTiming = false
    /// Whether clients may hold interactive transactions over several requests.
    package var allowsTransactions = true
    /// Classes, as `realm.Class`, whose objects may only be written by requests with a condition such as `If-Match`.
    package var conditionalClasses: Set<ByteText> = []
    /// The limits for requests of clients, each with a default.
    package var limits = Limits()
    /// The place of the audit log, and the handling of failures.
    package var audit = AuditOptions()
    /// The format of the access log; nil for no log.
    package var logFormat: AccessLog.Format? = .json
    /// The level of the access log at the start.
    package var logLevel = AccessLog.Level.info
    /// The logger of the engine, for opening, recovery, slow commits and refused states. Silent unless it is set.
    package var logger = EngineLog.silent
    /// Host names by which clients may address the server, besides those of its address.
    package var extraHosts: [String] = []
    /// Origins whose web pages may use the server.
    package var corsOrigins: [String] = []
    /// The issuers whose JSON Web Tokens are accepted.
    package var tokenIssuers: [IssuerSettings] = []
    /// The roles, and their rights.
    package var roles = RoleBook()
    /// Whether the server may listen on an address that other machines can reach, without
    /// credentials. Clients from there may read.
    package var isInsecure = false
    /// Verifies tokens that are no API keys; nil for a server that takes none.
    package var verifier: (any BearerVerifier)?
    /// The address of the listener for administrators.
    package var admin = AdminAddress.automatic
    /// Whether clients on this machine may administer through the main listener when it is on loopback.
    package var administersOnMain = true
    /// The seconds that running requests may take to finish when the server stops.
    package var graceSeconds = 1.0

    /// The prefix of the variables that the server reads, apart from those of other systems.
    package static let environmentPrefix = "REALM_REST_"

    /// Makes the default options, which serve no realm.
    package init() {}

    /// The text of the key that the environment has for a realm, in the variable
    /// `REALM_REST_KEY_NAME`, or in the one with its name in capital letters; nil for none.
    func environmentKey(of realm: String) -> String? {
        // Names of variables cannot contain the dots and hyphens that names of realms may contain.
        let name = String(realm.map { $0 == "." || $0 == "-" ? "_" : $0 })
        return environment("REALM_REST_KEY_" + name) ?? environment("REALM_REST_KEY_" + name.uppercased())
    }

    /// The name of the realm in `REALM.CLASS`; nil for a text of another form.
    static func realm(ofClass text: String) -> String? {
        guard let dot = text.lastIndex(of: "."), text.index(after: dot) < text.endIndex else { return nil }
        return RealmName(String(text[..<dot]))?.text
    }

    /// The name of the default realm: the stated one, else the only realm that is named explicitly, else `default`. There may be
    /// no realm of this name.
    var nameOfDefault: String {
        if let defaultRealm { return defaultRealm }
        guard paths.count == 1, let path = paths.first, !RealmFiles.isFolder(path) else { return "default" }
        return RealmName(file: path)?.text ?? "default"
    }
}
