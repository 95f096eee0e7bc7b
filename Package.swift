// swift-tools-version: 6.2
// Targets and their one-way dependencies are described in docs/ARCHITECTURE.md.
import PackageDescription

/// Settings every Swift target shares.
let shared: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

/// Hot modules drop the exclusivity checks that the optimiser cannot prove away; debug builds keep them.
let hot: [SwiftSetting] =
    shared + [
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
    ]

let package = Package(
    name: "realm-rest",
    products: [
        .executable(name: "realm-rest", targets: ["realm-rest"])
    ],
    // Exact versions, because no Package.resolved is committed: every clone builds what was tested. An update is a change of its own.
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CXlsxWriter", pkgConfig: "xlsxwriter", providers: [.apt(["libxlsxwriter-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CDecimal", providers: [.apt(["libintelrdfpmath-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(
            name: "CMarkdown", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .systemLibrary(name: "CProcessor"),
        .target(name: "CMappings"),
        .plugin(name: "EmbedWeb", capability: .buildTool(), dependencies: ["WebEmbedder"]),
        .executableTarget(name: "WebEmbedder", dependencies: ["CMarkdown"], path: "Plugins/WebEmbedder", swiftSettings: shared),
        .target(name: "RealmConsole", exclude: ["Web", "tsconfig.json"], swiftSettings: shared, plugins: ["EmbedWeb"]),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
        .target(name: "CTLS", linkerSettings: [.linkedLibrary("gnutls"), .linkedLibrary("microhttpd")]),
        .target(
            name: "RealmPlatform",
            dependencies: [
                "COpenSSL", "CProcessor", "CMappings", .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: hot),
        .target(
            name: "RealmStorage",
            dependencies: ["RealmPlatform", "CDecimal", "CProcessor", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: hot),
        .target(
            name: "RealmVerify",
            dependencies: ["RealmPlatform", "RealmStorage"],
            swiftSettings: hot),
        .target(
            name: "RealmRecovery",
            dependencies: ["RealmPlatform", "RealmStorage"],
            swiftSettings: hot),
        .target(
            name: "RealmLegacy",
            dependencies: ["RealmPlatform", "RealmStorage", "RealmVerify"],
            swiftSettings: hot),
        .target(
            name: "RealmQuery",
            dependencies: ["RealmPlatform", "RealmStorage"],
            swiftSettings: hot),
        .target(
            name: "RealmEngine",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmLegacy", "RealmQuery",
                .product(name: "DequeModule", package: "swift-collections"), .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: shared),
        .target(
            name: "RealmReplica",
            dependencies: ["CPostgres", "RealmPlatform", "RealmStorage", "RealmVerify", "RealmEngine"],
            swiftSettings: shared),
        .target(
            name: "WebClient",
            dependencies: ["CCurl", "RealmPlatform"],
            swiftSettings: shared),
        .target(
            name: "RealmFormats",
            dependencies: [
                "CJansson", "CSimdjson", "CSQLite", "CXlsxWriter", "RealmPlatform", "RealmStorage", "RealmQuery",
                "RealmEngine", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: hot),
        .target(
            name: "MicroHTTP",
            dependencies: [
                "CMicrohttpd", "CTLS", "CZlib", "CZstd", "RealmPlatform", "RealmStorage", "RealmFormats",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: hot),
        .target(
            name: "RealmBackups",
            dependencies: [
                "CExpat", "RealmPlatform", "RealmStorage", "RealmEngine", "WebClient", "RealmFormats",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: shared),
        .target(
            name: "RealmAccess",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "WebClient", "RealmFormats", "MicroHTTP",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: hot),
        .target(
            name: "RealmCalls",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmRecovery", "RealmQuery", "RealmEngine", "RealmFormats", "MicroHTTP",
                "RealmAccess", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: hot),
        .target(
            name: "RealmHosting",
            dependencies: [
                "CYAML", "RealmPlatform", "RealmStorage", "RealmVerify", "RealmRecovery", "RealmLegacy", "RealmQuery",
                "RealmEngine", "RealmReplica", "RealmFormats", "RealmBackups", "MicroHTTP", "RealmAccess", "RealmCalls",
                "RealmConsole",
                .product(name: "HeapModule", package: "swift-collections"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: shared),
        .target(
            name: "RealmHTTP",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmRecovery", "RealmLegacy", "RealmQuery", "RealmEngine",
                "RealmReplica", "RealmFormats", "RealmBackups", "MicroHTTP", "RealmAccess", "RealmCalls", "RealmHosting",
                "RealmConsole", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: hot),
        .executableTarget(
            name: "realm-rest",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmRecovery", "RealmLegacy", "RealmQuery", "RealmEngine",
                "RealmReplica", "WebClient", "RealmFormats", "RealmBackups", "MicroHTTP", "RealmAccess", "RealmCalls",
                "RealmHosting", "RealmHTTP",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: shared),
        .executableTarget(
            name: "RealmBenchmarks",
            dependencies: [
                "CMicrohttpd", "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "RealmFormats", "MicroHTTP",
                "RealmAccess", "RealmHosting", "RealmHTTP", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks",
            swiftSettings: hot),
        .target(
            name: "RealmTestSupport",
            dependencies: [
                "COpenSSL", "CZlib", "RealmPlatform", "RealmStorage", "RealmVerify", "RealmQuery", "RealmEngine",
                .product(name: "Logging", package: "swift-log"), .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Support",
            swiftSettings: shared),
        .target(
            name: "RealmServerSupport",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "RealmFormats", "RealmBackups", "MicroHTTP",
                "RealmAccess", "RealmHosting", "RealmTestSupport",
            ],
            path: "Tests/ServerSupport",
            exclude: ["tls.py"],
            swiftSettings: shared),
        .target(
            name: "RealmMutants",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmLegacy", "RealmEngine", "RealmFormats", "MicroHTTP",
                "RealmAccess", "RealmHosting", "RealmHTTP", "RealmTestSupport",
            ],
            path: "Tests/Fuzz/Mutants",
            swiftSettings: shared),
        .executableTarget(
            name: "MutantTrials",
            dependencies: [
                "RealmMutants", "RealmPlatform", "RealmStorage", "RealmTestSupport",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Fuzz/MutantTrials",
            swiftSettings: shared),
        .testTarget(name: "HouseTests", path: "Tests/House", swiftSettings: shared),
        .testTarget(
            name: "RealmPlatformTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmTestSupport",
            ],
            exclude: ["System/Vectors"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmVerifyTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmTestSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmRecoveryTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmRecovery", "RealmTestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmStorageTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmTestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmLegacyTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmLegacy", "RealmTestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmQueryTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "RealmTestSupport",
            ],
            exclude: ["Vectors"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmEngineTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmQuery", "RealmEngine",
                "RealmTestSupport",
            ],
            exclude: ["Observation/Vectors"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmReplicaTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmEngine", "RealmReplica", "RealmTestSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmFormatsTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "RealmFormats", "RealmTestSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmBackupsTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmEngine", "RealmFormats", "RealmBackups", "MicroHTTP",
                "RealmAccess", "RealmHosting", "RealmTestSupport", "RealmServerSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "MicroHTTPTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmFormats", "MicroHTTP", "RealmAccess", "RealmHosting",
                "RealmTestSupport", "RealmServerSupport", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmAccessTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmEngine", "RealmFormats", "MicroHTTP", "RealmAccess", "RealmHosting",
                "RealmTestSupport", "RealmServerSupport",
            ],
            exclude: ["Tokens/Vectors"],
            swiftSettings: shared),
        .testTarget(
            name: "RealmCallsTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmQuery", "RealmEngine", "RealmFormats", "RealmAccess", "RealmCalls",
                "RealmTestSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmHostingTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmEngine", "RealmFormats", "RealmBackups", "MicroHTTP", "RealmAccess",
                "RealmHosting", "RealmTestSupport",
            ],
            swiftSettings: shared),
        .testTarget(
            name: "RealmHTTPTests",
            dependencies: [
                "RealmPlatform", "RealmStorage", "RealmVerify", "RealmQuery", "RealmEngine", "RealmReplica", "RealmFormats",
                "RealmBackups", "MicroHTTP", "RealmAccess", "RealmCalls", "RealmHosting", "RealmConsole", "RealmHTTP",
                "RealmTestSupport", "RealmServerSupport", "RealmMutants",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Routes/Vectors"],
            swiftSettings: shared),
    ])

// For what `make dist` hands on, the linker of LLVM makes the program 7 MB smaller: it packs relocations, keeps one of several
// functions that are the same, and leaves out what nobody unwinds stacks by. The C++ library is Debian's, as simdjson needs that in any case.
if Context.environment["REALM_REST_DIST"] != nil {
    package.targets.first { $0.name == "realm-rest" }?.linkerSettings = [
        .unsafeFlags([
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--icf=safe",
            "-Xlinker", "--no-eh-frame-hdr", "-Xlinker", "-T\(Context.packageDirectory)/packaging/no-unwinding.ld",
        ])
    ]
}

// Entry points for libFuzzer, which brings the main function: `make fuzz`.
if Context.environment["REALM_REST_FUZZ"] != nil {
    // None needs the server: the fuzzer would be linked into the tool that embeds its pages.
    let readers: [(String, [Target.Dependency])] = [
        ("Opener", ["RealmPlatform", "RealmStorage", "RealmVerify"]),
        ("Legacy", ["RealmPlatform", "RealmStorage", "RealmVerify", "RealmLegacy"]),
        ("Queries", ["RealmPlatform", "RealmStorage", "RealmQuery"]),
        ("JSON", ["RealmFormats"]),
        ("Cursors", ["RealmFormats", "RealmCalls"]),
    ]
    package.targets += readers.map { name, dependencies in
        .executableTarget(
            name: "Fuzz\(name)", dependencies: dependencies + ["RealmTestSupport"], path: "Tests/Fuzz/\(name)",
            swiftSettings: shared + [.unsafeFlags(["-parse-as-library"])])
    }
}
