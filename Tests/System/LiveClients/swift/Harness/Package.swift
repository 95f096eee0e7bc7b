// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "LiveClients",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../../../../../clients/swift")],
    // The identity of a package by path is the name of its folder.
    targets: [
        .executableTarget(name: "Replay", dependencies: [.product(name: "RealmRest", package: "swift")]),
        .executableTarget(name: "Scenarios", dependencies: [.product(name: "RealmRest", package: "swift")]),
        .executableTarget(name: "Examples", dependencies: [.product(name: "RealmRest", package: "swift")]),
    ],
    swiftLanguageModes: [.v6]
)
