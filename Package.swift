// swift-tools-version: 6.1

import CompilerPluginSupport
import PackageDescription

let package = Package(
    name: "OpenCoreData",
    products: [
        .library(name: "CoreData", targets: ["CoreData"]),
        .library(name: "CoreDataToolkit", targets: ["CoreDataToolkit"]),
        .library(name: "CoreDataRemoteBackup", targets: ["CoreDataRemoteBackup"]),
        .library(name: "CoreDataSync", targets: ["CoreDataSync"]),
        .library(name: "CoreDataStudio", targets: ["CoreDataStudio"]),
        .library(name: "CoreDataPermissions", targets: ["CoreDataPermissions"]),
        // What the service and its clients say to each other.
        .library(name: "CoreDataJSON", targets: ["CoreDataJSON"]),
        .library(name: "CoreDataRemoteSync", targets: ["CoreDataRemoteSync"]),
        // A store that asks a service for each request.
        .library(name: "CoreDataServiceClient", targets: ["CoreDataServiceClient"]),
        // The only product that builds swift-syntax's macro libraries.
        .library(name: "SwiftData", targets: ["SwiftData"]),
        // Needs libpq; who does not ask for it neither builds nor links it.
        .library(name: "CoreDataPostgreSQL", targets: ["CoreDataPostgreSQL"]),
        // Both with the trait OpenCombine; without it they are empty.
        .library(name: "CoreDataCombine", targets: ["CoreDataCombine"]),
        .library(name: "Combine", targets: ["Combine"]),
        .executable(name: "coredata", targets: ["CoreDataCLI"]),
        .executable(name: "coredata-port", targets: ["coredata-port"]),
        .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
        .plugin(name: "NSManagedPlugin", targets: ["NSManagedPlugin"]),
        .plugin(name: "CoreDataPortPlugin", targets: ["CoreDataPortPlugin"]),
    ],
    traits: [
        .trait(
            name: "OpenCombine",
            description: "Publishers: objectWillChange of managed objects, and a module Combine off Apple's platforms."),
        .trait(
            name: "PostgreSQL",
            description: "Stores in PostgreSQL for the coredata command; needs libpq. Programs depend on the product."),
    ],
    dependencies: [
        // Neither fetched nor built by who does not ask for the trait.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"604.0.0"),
    ],
    targets: [
        // L0
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // For the store in PostgreSQL alone.
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(name: "CoreDataDigests", dependencies: ["CCrypto"]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .target(name: "CObjectRuntime"),
        .target(name: "CoreDataPrimitives"),
        .target(name: "CoreDataXML", dependencies: ["CExpat"]),
        .target(name: "CoreDataJSON"),
        .target(name: "CoreDataZip", dependencies: ["CZlib"]),
        .target(name: "CoreDataDeclarations", dependencies: ["CoreDataPrimitives"]),

        // L1
        .target(
            name: "CoreDataModel",
            dependencies: ["CoreDataPrimitives", "CoreDataXML", "CoreDataZip", "CoreDataDigests"]),
        .target(name: "CoreDataPredicate", dependencies: ["CoreDataPrimitives"]),
        .target(name: "CoreDataSQL", dependencies: ["CoreDataPrimitives"]),

        // L2
        .target(
            name: "CoreDataSQLite", dependencies: ["CoreDataPrimitives", "CoreDataSQL", "CSQLite"]),
        // Only who asks for the product CoreDataPostgreSQL builds it.
        .target(
            name: "CoreDataPostgreSQLDriver", dependencies: ["CoreDataPrimitives", "CoreDataSQL", "CPostgreSQL"]),
        .target(
            name: "CoreDataStore",
            dependencies: [
                "CoreDataPrimitives", "CoreDataXML", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL",
            ]),
        .target(name: "CoreDataCodeGeneration", dependencies: ["CoreDataPrimitives", "CoreDataModel"]),
        .target(
            name: "CoreDataModelTools",
            dependencies: ["CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataStore"]),

        // What reads and writes Swift source; the only users of swift-syntax.
        .target(
            name: "CoreDataManagedProperties",
            dependencies: [
                "CoreDataPrimitives", .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
            ]),
        .target(
            name: "CoreDataPorting",
            dependencies: [
                "CoreDataPrimitives", "CoreDataDeclarations", "CoreDataManagedProperties",
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
            ]),

        // L3
        .target(
            name: "CoreData",
            dependencies: [
                "CObjectRuntime", "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate",
                "CoreDataSQL", "CoreDataSQLite", "CoreDataStore",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // For who asks for the trait.
        .target(
            name: "CoreDataCombine",
            dependencies: [
                "CoreData",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ]),
        .target(
            name: "Combine",
            dependencies: [
                "CoreDataCombine",
                .product(name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
                .product(
                    name: "OpenCombineDispatch", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
                .product(
                    name: "OpenCombineFoundation", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ]),

        // SwiftData's API over CoreData.
        .macro(
            name: "SwiftDataMacros",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        .target(
            name: "SwiftData",
            dependencies: ["CoreData", "CoreDataModel", "CoreDataPredicate", "CoreDataPrimitives", "SwiftDataMacros"]),

        // L4
        // Stores in PostgreSQL.
        .target(
            name: "CoreDataPostgreSQL", dependencies: ["CoreData", "CoreDataSQL", "CoreDataPostgreSQLDriver"]),
        // Who may read and write what.
        .target(
            name: "CoreDataPermissions",
            dependencies: ["CoreData", "CoreDataStore", "CoreDataModel", "CoreDataPredicate", "CoreDataPrimitives"]),
        // What apps around Core Data write again and again.
        .target(
            name: "CoreDataToolkit",
            dependencies: ["CoreData", "CoreDataModel", "CoreDataPrimitives", "CoreDataXML", "CoreDataZip"]),
        // What tools do with any store: find its model, open it, show its values, compare it.
        .target(
            name: "CoreDataStoreTools",
            dependencies: ["CoreData", "CoreDataModel", "CoreDataPrimitives", "CoreDataToolkit"]),
        // The model editor and store browser, without the server that sends its pages.
        .target(
            name: "CoreDataStudio",
            dependencies: [
                "CoreData", "CoreDataModel", "CoreDataModelTools", "CoreDataToolkit", "CoreDataStoreTools",
                "CoreDataCodeGeneration", "CoreDataPredicate", "CoreDataStore", "CoreDataPrimitives",
            ],
            resources: [.embedInCode("Resources")]),
        // Synchronisation between devices: what merges, without I/O, and what captures, exchanges and applies.
        .target(name: "CoreDataSyncEngine", dependencies: ["CoreDataDigests"]),
        .target(
            name: "CoreDataSync",
            dependencies: ["CoreData", "CoreDataSyncEngine", "CoreDataDigests", "CoreDataPrimitives"]),
        // Devices that synchronise in one process by a seed, for tests and `coredata sync simulate`.
        .target(
            name: "CoreDataSyncSimulation",
            dependencies: ["CoreData", "CoreDataSync", "CoreDataSyncEngine", "CoreDataDigests"]),
        // Clients of WebDAV servers and S3 services, and the places there for backups and for synchronisation; apart, so that other
        // programs do not load Foundation's networking.
        .target(name: "CoreDataRemote", dependencies: ["CoreDataDigests", "CoreDataXML"]),
        .target(
            name: "CoreDataRemoteBackup", dependencies: ["CoreDataRemote", "CoreDataToolkit", "CoreDataDigests"]),
        .target(name: "CoreDataRemoteSync", dependencies: ["CoreDataRemote", "CoreDataSync", "CoreDataDigests"]),
        .target(
            name: "CoreDataServiceClient",
            dependencies: [
                "CoreData", "CoreDataJSON", "CoreDataRemoteSync", "CoreDataRemote", "CoreDataPredicate",
                "CoreDataPrimitives", "CoreDataDigests", .product(name: "Logging", package: "swift-log"),
            ]),
        .executableTarget(
            name: "CoreDataCLI",
            dependencies: [
                "CoreData", "CoreDataToolkit", "CoreDataStoreTools", "CoreDataPrimitives", "CoreDataXML",
                "CoreDataDeclarations", "CoreDataModel",
                "CoreDataModelTools", "CoreDataCodeGeneration", "CoreDataSync", "CoreDataSyncEngine",
                "CoreDataSyncSimulation",
                .target(name: "CoreDataPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),

        // Build tools: each plugin runs its own tool, so that nobody builds more than what they use.
        .executableTarget(name: "coredata-modelc", dependencies: ["CoreDataCodeGeneration", "CoreDataModel"]),
        .executableTarget(
            name: "coredata-managed", dependencies: ["CoreDataManagedProperties", "CoreDataPrimitives"]),
        .executableTarget(name: "coredata-port", dependencies: ["CoreDataPorting", "CoreDataPrimitives"]),
        .plugin(
            name: "CoreDataModelPlugin", capability: .buildTool(), dependencies: ["coredata-modelc"]),
        .plugin(name: "NSManagedPlugin", capability: .buildTool(), dependencies: ["coredata-managed"]),
        .plugin(name: "CoreDataPortPlugin", capability: .buildTool(), dependencies: ["coredata-port"]),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["CoreDataPrimitives", "CoreDataModel"], path: "Tests/TestSupport"),
        .testTarget(
            name: "CoreDataPrimitivesTests", dependencies: ["CoreDataPrimitives", "TestSupport"]),
        .testTarget(name: "CoreDataZipTests", dependencies: ["CoreDataZip", "TestSupport"]),
        .testTarget(name: "CoreDataXMLTests", dependencies: ["CoreDataXML", "TestSupport"]),
        .testTarget(
            name: "CoreDataModelTests", dependencies: ["CoreDataModel", "CSQLite", "TestSupport"]),
        .testTarget(
            name: "CoreDataModelToolsTests",
            dependencies: ["CoreDataModelTools", "CoreDataModel", "CoreDataPrimitives", "TestSupport"]),
        .testTarget(
            name: "CoreDataCodeGenerationTests", dependencies: ["CoreDataCodeGeneration", "TestSupport"]),
        .testTarget(name: "CoreDataManagedPropertiesTests", dependencies: ["CoreDataManagedProperties"]),
        .testTarget(
            name: "CoreDataPortingTests",
            dependencies: [
                "CoreDataPorting", "CoreDataDeclarations", "CoreDataPrimitives",
                .product(name: "SwiftParser", package: "swift-syntax"),
            ]),
        .testTarget(
            name: "CoreDataPredicateTests", dependencies: ["CoreDataPredicate", "TestSupport"]),
        .testTarget(name: "CoreDataSQLTests", dependencies: ["CoreDataSQL", "TestSupport"]),
        .testTarget(
            name: "CoreDataSQLiteTests", dependencies: ["CoreDataSQLite", "CSQLite", "TestSupport"]),
        // Models, and what else is about stores.
        .target(
            name: "StoreTestSupport",
            dependencies: [
                "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL", "CoreDataStore",
                "TestSupport",
            ], path: "Tests/StoreTestSupport"),
        .testTarget(
            name: "CoreDataStoreTests",
            dependencies: ["CoreDataStore", "CoreDataSQLite", "SaveKiller", "TestSupport", "StoreTestSupport"]),
        .testTarget(
            name: "CoreDataPostgreSQLTests",
            dependencies: [
                "CoreData", "CoreDataModel", "CoreDataPostgreSQL", "CoreDataPostgreSQLDriver", "CoreDataSQL",
                "CoreDataStore", "MigrationScenarios", "PostgreSQLAccounts", "PostgreSQLServer", "PostgreSQLTransfers",
                "StoreTestSupport",
                "TestSupport",
            ]),
        // A store of a program's own class, to be copied.
        .target(name: "JSONFolderStore", dependencies: ["CoreData"], path: "Examples/JSONFolderStore"),
        // Accounts in a store on a server, and another process that moves money between them, migrates and copies.
        .target(
            name: "PostgreSQLAccounts", dependencies: ["CoreData", "CoreDataPostgreSQL"],
            path: "Tests/PostgreSQLAccounts"),
        .executableTarget(
            name: "PostgreSQLTransfers",
            dependencies: ["CoreData", "CoreDataPostgreSQL", "MigrationScenarios", "PostgreSQLAccounts"],
            path: "Tests/PostgreSQLTransfers"),
        // A PostgreSQL server of a test run's own.
        .target(name: "PostgreSQLServer", path: "Tests/PostgreSQLServer"),
        // What every store must do, and which stores there are.
        .testTarget(
            name: "SpecificationTests",
            dependencies: [
                "CoreData", "CoreDataStore", "CoreDataSQLite", "CoreDataPostgreSQLDriver", "HistoryWriter",
                "JSONFolderStore",
                "PostgreSQLServer", "TestSupport", "StoreTestSupport",
            ]),
        .testTarget(
            name: "CoreDataTests",
            dependencies: [
                "CoreData", "BatchProgram", "ContextStress", "HistoryWriter", "MigrationKiller", "MigrationScenarios",
                "SaveKiller", "TestSupport", "TurnProgram",
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Another process, which writes to a store that a test watches.
        .executableTarget(name: "HistoryWriter", dependencies: ["CoreData"], path: "Tests/HistoryWriter"),
        // Another process that makes one batch request, and tells how much memory it took.
        .executableTarget(name: "BatchProgram", dependencies: ["CoreData"], path: "Tests/BatchProgram"),
        // Eight contexts on four threads that edit a store which another process edits, too.
        .executableTarget(name: "ContextStress", dependencies: ["CoreData"], path: "Tests/ContextStress"),
        // Counts what a program does to files, and kills it at one of them.
        .target(name: "FileOperations", path: "Tests/FileOperations"),
        // What a process may be killed in the middle of, and what may be left then.
        // Power failures and failing system calls.
        .target(name: "SystemCalls", path: "Tests/SystemCalls"),
        .target(
            name: "CrashConsistencyScenarios",
            dependencies: [
                "CoreData", "CoreDataModel", "CoreDataSync", "CoreDataToolkit", "MigrationScenarios", "TestSupport",
            ], path: "Tests/CrashConsistencyScenarios"),
        .executableTarget(
            name: "SystemCallsProgram", dependencies: ["CrashConsistencyScenarios", "SystemCalls"],
            path: "Tests/SystemCallsProgram"),
        .testTarget(
            name: "CrashConsistencyTests",
            dependencies: ["CoreData", "CrashConsistencyScenarios", "CSQLite", "SystemCallsProgram", "TestSupport"]),
        .target(
            name: "MigrationScenarios", dependencies: ["CoreData", "CoreDataModel", "TestSupport"],
            path: "Tests/MigrationScenarios"),
        // Another process, which migrates stores and kills itself meanwhile.
        .executableTarget(
            name: "MigrationKiller", dependencies: ["FileOperations", "MigrationScenarios"],
            path: "Tests/MigrationKiller"),
        // Another process, which changes a main context on its main thread.
        .executableTarget(name: "TurnProgram", dependencies: ["CoreData"], path: "Tests/TurnProgram"),
        // Another process that saves, and is killed meanwhile, for tests.
        .executableTarget(
            name: "SaveKiller", dependencies: ["CoreDataStore", "CoreDataSQLite"], path: "Tests/SaveKiller"),
        .testTarget(
            name: "CoreDataCLITests",
            dependencies: [
                "CoreDataCLI", "CoreData", "CoreDataToolkit", "CoreDataStoreTools", "CoreDataModel",
                "CoreDataModelTools",
                "CoreDataPostgreSQL", "CoreDataPostgreSQLDriver", "CoreDataPrimitives", "CoreDataSQL",
                "PostgreSQLServer", "TestSupport", "coredata-modelc", "coredata-port",
            ]),
        .testTarget(
            name: "CoreDataStudioTests",
            dependencies: [
                "CoreDataStudio", "CoreData", "CoreDataModel", "CoreDataStoreTools", "CoreDataToolkit", "TestSupport",
            ]),
        .testTarget(
            name: "CoreDataToolkitTests",
            dependencies: ["CoreDataToolkit", "CoreData", "CoreDataZip", "TestSupport", "ToolkitWorker"]),
        // Another process that writes to a store, copies, restores and synchronises, and is killed meanwhile.
        .executableTarget(
            name: "ToolkitWorker", dependencies: ["CoreDataToolkit", "CoreDataSync", "CoreData"],
            path: "Tests/ToolkitWorker"),
        .testTarget(
            name: "CoreDataRemoteBackupTests",
            dependencies: [
                "CoreDataRemote", "CoreDataRemoteBackup", "CoreDataToolkit", "CoreData", "CoreDataDigests",
                "RemoteServers", "TestSupport",
            ]),
        // Stand-ins for WebDAV servers and S3 services, and the servers of others that a test run starts.
        .target(
            name: "RemoteServers", dependencies: ["CoreDataDigests", "TestSupport"], path: "Tests/RemoteServers",
            exclude: ["servers.py"]),
        .testTarget(name: "CoreDataSyncEngineTests", dependencies: ["CoreDataSyncEngine", "TestSupport"]),
        .testTarget(
            name: "CoreDataSyncTests",
            dependencies: [
                "CoreDataSync", "CoreDataRemoteSync", "CoreDataRemote", "CoreDataSyncEngine", "CoreDataSyncSimulation",
                "CoreDataDigests", "CoreDataToolkit", "CoreData", "CoreDataPostgreSQL", "PostgreSQLServer",
                "RemoteServers", "TestSupport", "ToolkitWorker",
            ]),
        .testTarget(
            name: "CoreDataPermissionsTests",
            dependencies: [
                "CoreDataPermissions", "CoreData", "CoreDataStore", "CoreDataModel", "CoreDataPredicate",
                "CoreDataPrimitives", "CoreDataPostgreSQL", "PostgreSQLServer", "TestSupport",
            ]),
        .testTarget(name: "CoreDataCombineTests", dependencies: ["Combine", "CoreData"]),
        // What the macros expand to is tested through the compiler: a test target that depends on a macro is built for the host, and
        // all test targets and what they test with it, a second time.
        .testTarget(name: "SwiftDataTests", dependencies: ["SwiftData", "CoreData", "TestSupport"]),
        .testTarget(name: "ArchitectureTests"),
    ],
    swiftLanguageModes: [.v6]
)
