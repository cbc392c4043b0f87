import Testing

/// The plan of docs/architecture.md, so that it cannot rot: who imports whom, and what is public.
@Suite struct LayeringTests {
    /// What each target may import beside ``everywhere``. A target that is not here has no rule and fails.
    private static let mayImport: [String: Set<String>] = [
        "CSQLite": [],
        "CCrypto": [],
        "CZlib": [],
        "CExpat": [],
        "CObjectRuntime": [],
        "CPostgreSQL": [],
        "CoreDataPrimitives": [],
        "CoreDataXML": ["CExpat"],
        "CoreDataJSON": [],
        "CoreDataDeclarations": ["CoreDataPrimitives"],
        "CoreDataZip": ["CZlib"],
        "CoreDataDigests": ["CCrypto"],
        "CoreDataModel": ["CoreDataPrimitives", "CoreDataXML", "CoreDataZip", "CoreDataDigests"],
        "CoreDataPredicate": ["CoreDataPrimitives"],
        "CoreDataSQL": ["CoreDataPrimitives"],
        "CoreDataSQLite": ["CoreDataPrimitives", "CoreDataSQL", "CSQLite"],
        "CoreDataPostgreSQLDriver": ["CoreDataPrimitives", "CoreDataSQL", "CPostgreSQL"],
        "CoreDataPostgreSQL": ["CoreData", "CoreDataSQL", "CoreDataPostgreSQLDriver"],
        "CoreDataStore": ["CoreDataPrimitives", "CoreDataXML", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL"],
        "CoreData": [
            "CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataSQL", "CoreDataSQLite",
            "CoreDataStore", "CObjectRuntime", "Logging", "Observation",
        ],
        "CoreDataCombine": ["CoreData", "OpenCombine"],
        "Combine": ["CoreDataCombine", "OpenCombine", "OpenCombineDispatch", "OpenCombineFoundation"],
        "CoreDataCodeGeneration": ["CoreDataPrimitives", "CoreDataModel"],
        "CoreDataModelTools": ["CoreDataPrimitives", "CoreDataModel", "CoreDataPredicate", "CoreDataStore"],
        "CoreDataManagedProperties": ["CoreDataPrimitives", "SwiftSyntax", "SwiftParser"],
        "CoreDataPorting": [
            "CoreDataPrimitives", "CoreDataDeclarations", "CoreDataManagedProperties", "SwiftSyntax", "SwiftParser",
        ],
        "CoreDataToolkit": ["CoreData", "CoreDataModel", "CoreDataPrimitives", "CoreDataXML", "CoreDataZip"],
        "CoreDataRemote": ["CoreDataDigests", "CoreDataXML", "FoundationNetworking"],
        "CoreDataRemoteBackup": ["CoreDataRemote", "CoreDataToolkit", "CoreDataDigests"],
        "CoreDataRemoteSync": ["CoreDataRemote", "CoreDataSync", "CoreDataDigests", "FoundationNetworking"],
        "CoreDataStoreTools": ["CoreData", "CoreDataModel", "CoreDataPrimitives", "CoreDataToolkit"],
        "CoreDataStudio": [
            "CoreData", "CoreDataModel", "CoreDataModelTools", "CoreDataToolkit", "CoreDataStoreTools",
            "CoreDataCodeGeneration", "CoreDataPredicate", "CoreDataStore", "CoreDataPrimitives",
        ],
        "CoreDataServiceClient": [
            "CoreData", "CoreDataJSON", "CoreDataRemoteSync", "CoreDataRemote", "CoreDataPredicate",
            "CoreDataPrimitives",
            "CoreDataDigests", "Logging",
        ],
        "CoreDataSyncEngine": ["CoreDataDigests"],
        "CoreDataSync": ["CoreData", "CoreDataSyncEngine", "CoreDataDigests", "CoreDataPrimitives"],
        "CoreDataPermissions": [
            "CoreData", "CoreDataStore", "CoreDataModel", "CoreDataPredicate", "CoreDataPrimitives",
        ],
        "CoreDataSyncSimulation": ["CoreData", "CoreDataSync", "CoreDataSyncEngine", "CoreDataDigests"],
        "CoreDataCLI": [
            "CoreDataToolkit", "CoreDataStoreTools", "CoreDataPrimitives", "CoreDataXML", "CoreDataDeclarations",
            "CoreDataModel", "CoreData",
            "CoreDataModelTools", "CoreDataCodeGeneration", "CoreDataSync", "CoreDataSyncEngine",
            "CoreDataSyncSimulation", "ArgumentParser",
            // With the package's trait PostgreSQL only.
            "CoreDataPostgreSQL",
        ],
        "SwiftDataMacros": [
            "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftCompilerPlugin",
        ],
        // The macros are named by the text of their declarations, not imported.
        "SwiftData": ["CoreData", "CoreDataModel", "CoreDataPredicate", "CoreDataPrimitives", "Observation"],
        "coredata-modelc": ["CoreDataPrimitives", "CoreDataModel", "CoreDataCodeGeneration"],
        "coredata-managed": ["CoreDataPrimitives", "CoreDataManagedProperties"],
        "coredata-port": ["CoreDataPrimitives", "CoreDataPorting"],
    ]

    private static let everywhere: Set<String> = ["Swift", "Foundation", "Dispatch", "Synchronization"]

    /// The C library of the platform, where Foundation does not have what is needed.
    private static let platform: Set<String> = ["Glibc", "Musl", "Android", "WinSDK", "ucrt", "CRT", "Darwin"]

    /// The only files that may know the platform, so that another one is a matter of its toolchain.
    private static let platformFiles: Set<String> = ["Sources/CoreDataCLI/Output/Terminal.swift"]

    /// Targets whose declarations a user of the package sees.
    private static let publicTargets: Set<String> = [
        "Combine", "CoreData", "CoreDataCombine", "CoreDataJSON", "CoreDataPermissions", "CoreDataPostgreSQL",
        "CoreDataRemote",
        "CoreDataRemoteBackup", "CoreDataRemoteSync", "CoreDataServiceClient", "CoreDataStudio", "CoreDataSync",
        "CoreDataToolkit", "SwiftData",
    ]

    @Test func everyTargetHasARule() throws {
        #expect(try Set(Repository.targets()) == Set(Self.mayImport.keys))
    }

    @Test(arguments: mayImport.keys.sorted())
    func targetImportsOnlyWhatItsRoomMay(target: String) throws {
        let allowed = (Self.mayImport[target] ?? []).union(Self.everywhere)
        for (path, text) in try Repository.sources(of: target) {
            let here = Self.platformFiles.contains(path) ? allowed.union(Self.platform) : allowed
            for (module, line) in text.imports where !here.contains(module) {
                Issue.record("\(path):\(line): \(target) may not import \(module) here")
            }
        }
    }

    /// The driver's one door into `CoreData`.
    @Test(arguments: ["CoreDataSQLite": "CoreData", "CoreDataPostgreSQLDriver": "CoreDataPostgreSQL"])
    func moduleIsImportedInOneFile(module: String, target: String) throws {
        let importers = try Repository.targets().flatMap { try Repository.sources(of: $0) }
            .filter { $0.text.imports.contains { $0.module == module } }.map(\.path)
        #expect(importers.count == 1, "\(importers)")
        #expect(importers.allSatisfy { $0.hasPrefix("Sources/\(target)/") })
    }

    /// Invariant 5.
    @Test(arguments: ["CSQLite", "CCrypto", "CZlib", "CExpat", "CObjectRuntime", "CPostgreSQL"])
    func libraryIsImportedInOneTarget(library: String) throws {
        let importers = try Repository.targets().filter { target in
            try Repository.sources(of: target).contains { $0.text.imports.contains { $0.module == library } }
        }
        #expect(importers.count == 1, "\(importers)")
    }

    /// What a connection sends next is decided without the library that sends it.
    @Test func thePipelineDecidesWithoutALibrary() throws {
        let sources = try Repository.sources(of: "CoreDataPostgreSQLDriver")
            .filter { $0.path.hasPrefix("Sources/CoreDataPostgreSQLDriver/Pipeline/") }
        #expect(!sources.isEmpty)
        for (path, text) in sources {
            for (module, line) in text.imports where module != "CoreDataSQL" {
                Issue.record("\(path):\(line) imports \(module)")
            }
        }
    }

    /// Contexts, objects and coordinators know where rows come from as a `RowSource` only.
    @Test(arguments: [
        "Context", "Objects", "Fetching", "Coordinator", "Batches", "History", "Requests", "FetchedResults",
    ])
    func rowsComeThroughOneDoor(folder: String) throws {
        let sources = try Repository.sources(of: "CoreData").filter { $0.path.hasPrefix("Sources/CoreData/\(folder)/") }
        #expect(!sources.isEmpty)
        for (path, text) in sources {
            for line in text.lines(mentioning: ["StoreEngine", "MemoryEngine", "SQLStore", "SQLDatabase"]) {
                Issue.record("\(path):\(line) names the SQL engine")
            }
        }
    }

    /// Invariant 1.
    @Test(arguments: mayImport.keys.filter { !publicTargets.contains($0) }.sorted())
    func nothingIsPublicBelowCoreData(target: String) throws {
        for (path, text) in try Repository.sources(of: target) {
            for line in text.publicDeclarations {
                Issue.record("\(path):\(line): use 'package' instead of 'public' or 'open'")
            }
        }
    }

    /// Invariant 2.
    @Test(
        arguments: mayImport.keys.filter { name in
            !["CoreDataCLI", "CoreDataStoreTools", "CoreDataSyncSimulation"].contains(name)
                && !publicTargets.contains(name)
        }.sorted())
    func engineHasNotHeardOfApplesClasses(target: String) throws {
        let names = [
            "NSManagedObject", "NSEntityDescription", "NSPropertyDescription", "NSAttributeDescription",
            "NSRelationshipDescription", "NSFetchRequest", "NSPersistentStore", "NSPersistentContainer",
        ]
        for (path, text) in try Repository.sources(of: target) {
            for line in text.lines(mentioning: names) {
                Issue.record("\(path):\(line): one of Apple's classes is named in the engine")
            }
        }
    }

    @Test func noTwoPathsDifferOnlyInCase() throws {
        let files = try Repository.files()
        #expect(files.count > 1000)
        let folders = Set(files.map { $0.split(separator: "/").dropLast().joined(separator: "/") })
        for (_, paths) in Dictionary(grouping: files + folders, by: { $0.lowercased() }) where paths.count > 1 {
            Issue.record("\(paths) are one path on many disks")
        }
    }
}
