// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The crypto library as a whole.
package enum CryptoLibrary {
    /// Keeps the library as it is while the process exits. Otherwise `exit` would free what threads that still import keys or verify
    /// signatures use. Takes effect only before the first other call of the library.
    package static func keepUntilExit() { _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
