// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "OpenCoreData",
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .executable(name: "coredata", targets: ["CoreDataCLI"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        // L0
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CObjectRuntime"),
        .target(name: "CoreDataPrimitives"),

        // L1
        .target(
            name: "CoreDataModel",
            dependencies: [
                "CoreDataPrimitives", "CZlib", .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(name: "CoreDataPredicate", dependencies: ["CoreDataPrimitives"]),
        .target(name: "CoreDataSQL", dependencies: ["CoreDataPrimitives"]),

        // L2
        .target(
            name: "CoreDataSQLite", dependencies: ["CoreDataPrimitives", "CoreDataSQL", "CSQLite"]),
        .target(
            name: "CoreDataStore",
            dependencies: [
                "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL",
            ]),

        // L3
        .target(
            name: "CoreData",
            dependencies: [
                "CObjectRuntime", "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate",
                "CoreDataSQL", "CoreDataSQLite", "CoreDataStore",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // L4
        .executableTarget(
            name: "CoreDataCLI",
            dependencies: [
                "CoreData", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["CoreDataPrimitives"], path: "Tests/TestSupport"),
        .testTarget(
            name: "CoreDataPrimitivesTests", dependencies: ["CoreDataPrimitives", "TestSupport"]),
        .testTarget(
            name: "CoreDataModelTests", dependencies: ["CoreDataModel", "CSQLite", "TestSupport"]),
        .testTarget(
            name: "CoreDataPredicateTests", dependencies: ["CoreDataPredicate", "TestSupport"]),
        .testTarget(name: "CoreDataSQLTests", dependencies: ["CoreDataSQL", "TestSupport"]),
        .testTarget(
            name: "CoreDataSQLiteTests", dependencies: ["CoreDataSQLite", "TestSupport"]),
        .testTarget(
            name: "CoreDataStoreTests",
            dependencies: ["CoreDataStore", "CoreDataSQLite", "SaveKiller", "TestSupport"]),
        .testTarget(
            name: "CoreDataTests",
            dependencies: ["CoreData", "TestSupport", .product(name: "Logging", package: "swift-log")]),
        // Killed while it saves, by a test.
        .executableTarget(
            name: "SaveKiller", dependencies: ["CoreDataStore", "CoreDataSQLite"], path: "Tests/SaveKiller"),
        .testTarget(name: "CoreDataCLITests", dependencies: ["CoreDataCLI", "CoreData", "TestSupport"]),
        .testTarget(name: "ArchitectureTests"),
    ],
    swiftLanguageModes: [.v6]
)
