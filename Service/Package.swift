// swift-tools-version: 6.1

import PackageDescription

// A service that many people share: accounts, and a model served over HTTP. A package of its own, so that only its users fetch Hummingbird.
let package = Package(
    name: "Service",
    products: [
        .library(name: "CoreDataAccounts", targets: ["CoreDataAccounts"]),
        .library(name: "CoreDataService", targets: ["CoreDataService"]),
        .executable(name: "coredata-service", targets: ["coredata-service"]),
    ],
    traits: [
        .trait(name: "PostgreSQL", description: "Stores on a PostgreSQL server: --store postgresql://….")
    ],
    dependencies: [
        .package(name: "OpenCoreData", path: ".."),
        // Without its support for configuration files, which is long to build.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        // Of Hummingbird, too.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        // scrypt, of the system's OpenSSL.
        .systemLibrary(name: "CPasswords", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "CoreDataAccounts",
            dependencies: [
                "CPasswords",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(
            name: "CoreDataService",
            dependencies: [
                "CoreDataAccounts",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataJSON", package: "OpenCoreData"),
                .product(name: "CoreDataPermissions", package: "OpenCoreData"),
                // The rules for names in a place.
                .product(name: "CoreDataSync", package: "OpenCoreData"),
                // Neither built nor linked by who does not ask for the trait.
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "coredata-service",
            dependencies: [
                "CoreDataService",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        // The server that tests of the root package start, too: a link to Tests/PostgreSQLServer.
        .target(name: "PostgreSQLServer", path: "Tests/PostgreSQLServer"),
        // A second process on a store, for tests.
        .executableTarget(
            name: "AccountsWorker",
            dependencies: [
                "CoreDataAccounts",
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Tests/AccountsWorker"),
        .testTarget(
            name: "CoreDataAccountsTests",
            dependencies: [
                "AccountsWorker", "CoreDataAccounts", "PostgreSQLServer",
                .product(name: "CoreData", package: "OpenCoreData"),
                .product(
                    name: "CoreDataPostgreSQL", package: "OpenCoreData", condition: .when(traits: ["PostgreSQL"])),
            ]),
        .testTarget(
            name: "CoreDataServiceTests",
            dependencies: [
                // A program that tests start.
                "coredata-service", "PostgreSQLServer",
                "CoreDataService", "CoreDataAccounts", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataJSON", package: "OpenCoreData"),
                .product(name: "CoreDataPermissions", package: "OpenCoreData"),
                // Devices that synchronise through the service.
                .product(name: "CoreDataSync", package: "OpenCoreData"),
                .product(name: "CoreDataRemoteSync", package: "OpenCoreData"),
            ]),
        // The store that asks the service, against the service.
        .testTarget(
            name: "CoreDataServiceClientTests",
            dependencies: [
                "CoreDataService", "CoreDataAccounts", .product(name: "CoreData", package: "OpenCoreData"),
                .product(name: "CoreDataPermissions", package: "OpenCoreData"),
                .product(name: "CoreDataRemoteSync", package: "OpenCoreData"),
                .product(name: "CoreDataServiceClient", package: "OpenCoreData"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
