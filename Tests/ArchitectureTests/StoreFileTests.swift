import Testing

/// Invariant 11 of docs/architecture.md: what may be a store's database is opened by SQLite, or as a
/// `StoreFileDescriptor`.
///
/// Closing any other descriptor of it would release the locks that this process has on it, and saves would be lost.
@Suite struct StoreFileTests {
    /// Who opens files otherwise, and why they are no databases that this process may have open.
    private static let exceptions: [String: String] = [
        "Sources/CoreDataPrimitives/OpenDatabaseFiles.swift": "the door itself",
        "Sources/CoreDataPrimitives/DurableFiles.swift": "folders, and logs, which have no locks",
        "Sources/CoreDataPrimitives/ExclusiveRename.swift": "makes the file, which was not there",
        "Sources/CoreDataPrimitives/FolderLock.swift": "folders",
        "Sources/CoreDataPrimitives/HeldBytes.swift": "external data",
        "Sources/CoreDataSQLite/Connections/TableReconstruction.swift":
            "a copy that nobody has open",
        "Sources/CoreDataStore/Copying/ExternalDataCopy.swift": "external data",
        "Sources/CoreDataStore/Saving/ExternalDataWriter.swift": "external data, and folders",
        "Sources/CoreDataStore/Rows/FormerFiles.swift": "a folder",
        "Sources/CoreData/Stores/MigrationTurn.swift": "a lock's file",
        "Sources/CoreData/Stores/NewStorePlace.swift": "a note in a folder",
        "Sources/CoreData/FetchedResults/SectionCache.swift": "a cache of sections",
        "Sources/CoreDataToolkit/Backup/BackupDestination.swift": "archives",
        "Sources/CoreDataToolkit/Records/FileBytes.swift": "records: databases are refused before",
        "Sources/CoreDataToolkit/Thumbnails/SystemImageScaler.swift": "pictures",
        "Sources/SwiftData/Schema/Schema.swift": "schemas",
        "Sources/CoreDataRemote/": "archives",
        "Sources/CoreDataSync/Sidecar/SyncLock.swift": "a lock's file",
        "Sources/CoreDataSync/Places/FolderPlace.swift": "files that devices exchange, and folders",
        "Sources/CoreDataSyncSimulation/Running/SimulatedDevice.swift": "stores that nobody has open, to copy them",
        "Sources/CoreDataZip/": "archives, and a copy of a store that nobody has open",
        "Sources/CoreDataDigests/": "archives",
        "Sources/CoreDataModel/": "models",
        "Sources/CoreDataModelTools/Editing/": "models",
        "Sources/CoreDataCodeGeneration/": "models and sources",
        "Sources/CoreDataPorting/": "sources",
        "Sources/CoreDataCLI/Commands/Model/ModelAddVersionCommand.swift": "versions of models",
        "Sources/CoreDataCLI/Commands/Model/ModelFmtCommand.swift": "models",
        "Sources/CoreDataCLI/Syncing/PlaceFolder.swift": "files of a place, which has no stores",
        "Sources/CoreDataCLI/Output/Terminal.swift": "a new file, which replaces no store",
        "Sources/coredata-managed/": "sources",
        "Sources/coredata-port/": "sources",
    ]

    @Test func storesAreOpenedThroughOneDoor() throws {
        for target in try Repository.targets() {
            for (path, text) in try Repository.sources(of: target) {
                guard !Self.exceptions.keys.contains(where: path.hasPrefix) else { continue }
                for line in text.openings {
                    Issue.record(
                        "\(path):\(line): a file is opened that may be a store: use StoreFileDescriptor, or the driver's start(of:count:)"
                    )
                }
            }
        }
    }

    @Test func exceptionsAreNeeded() throws {
        let sources = try Repository.targets().flatMap { try Repository.sources(of: $0) }
        for (prefix, reason) in Self.exceptions {
            #expect(
                sources.contains { $0.path.hasPrefix(prefix) && !$0.text.openings.isEmpty },
                "\(prefix) opens nothing: \(reason)")
        }
    }

    /// SQLite is opened where its files are noted, so that descriptors know of them.
    @Test func databasesAreOpenedInOnePlace() throws {
        for (path, text) in try Repository.sources(of: "CoreDataSQLite") {
            // A database in memory, by which the layout of results is found out.
            guard !path.hasSuffix("/SQLiteConnection+Files.swift"), !path.hasSuffix("/ResultValues.swift") else {
                continue
            }
            for line in text.lines(mentioning: ["sqlite3_open"]) {
                Issue.record("\(path):\(line): open databases with SQLiteConnection.open(_:_:fileSystem:)")
            }
        }
    }

    @Test(arguments: [
        ("let file = open(path, O_RDONLY)", true), ("Foundation.open(path, flags | O_CLOEXEC, mode)", true),
        ("let file = FileHandle(forReadingAtPath: path)", true), ("try Data(contentsOf: url)", true),
        ("try String(contentsOfFile: path, encoding: .utf8)", true), ("try files.copyItem(at: a, to: b)", true),
        ("files.createFile(atPath: path, contents: nil)", true), ("InputStream(url: url)", true),
        ("let store = try open(url)", false), ("StoreFileDescriptor(path, O_RDONLY)", false),
        ("FileHandle.standardError.write(data)", false), ("// open(path, O_RDONLY)", false),
        ("try Descriptor(path, O_RDWR | O_CREAT)", false), ("ModelReader.read(contentsOf: url)", false),
    ])
    func openingsAreFound(source: String, isOpening: Bool) {
        #expect(SourceText(source).openings == (isOpening ? [1] : []))
    }
}

extension SourceText {
    /// The lines that open a file themselves, or have Foundation do it.
    fileprivate var openings: [Int] {
        let words = [
            "FileHandle(", "Data(contentsOf", "String(contentsOf", "contentsOfFile", "fopen(", "copyItem(",
            "replaceItem(",
            "createFile(", "InputStream(", "OutputStream(", "contents(atPath",
        ]
        return lines.indices.filter { index in
            let line = lines[index]
            return words.contains { line.contains($0) } || line.contains("open(") && line.contains("O_")
        }.map { $0 + 1 }
    }
}
