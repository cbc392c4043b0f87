import CoreDataSQL
import Foundation

// The folder of external data has the name of its store without the extension, so that several stores may have one:
//
//  Shop.sqlite ──┐
//  Shop.backup ──┴── .Shop_SUPPORT/_EXTERNAL_DATA
//
// A copy of the one under such a name even names the same files. What one of them gives up may be the other's.
extension ExternalData {
    /// The other files beside the store that may be databases, whose external data lie in the same folder.
    package var neighbours: [String] {
        guard let storePath else { return [] }
        let store = URL(fileURLWithPath: storePath)
        let stem = store.deletingPathExtension().lastPathComponent
        let folder = store.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name -> String? in
            guard name.hasPrefix(stem), name != store.lastPathComponent, !Self.isCompanion(name),
                (name as NSString).deletingPathExtension == stem
            else { return nil }
            let path = "\(folder)/\(name)"
            return Self.mayBeDatabase(path, otherThan: storePath) ? path : nil
        }.sorted()
    }

    /// Whether files in the folder may be those of another store.
    package var isShared: Bool { !neighbours.isEmpty }

    private static func isCompanion(_ name: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    }

    /// Whether it has whole pages, as a database has. It is not opened: to close it again would give up all locks that this process has on
    /// it, those of SQLite's connections among them. What is taken for a database and is none costs the files that nobody removes.
    private static func mayBeDatabase(_ path: String, otherThan store: String) -> Bool {
        var (status, own) = (stat(), stat())
        let smallestPage: off_t = 512
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
            status.st_size % smallestPage == 0
        else { return false }
        return stat(store, &own) != 0 || own.st_ino != status.st_ino || own.st_dev != status.st_dev
    }

    /// The files that rows of a database name, whatever its model is; `nil` where that cannot be told.
    static func names(in options: DatabaseOptions, makeDatabase: DatabaseFactory) -> Set<String>? {
        var options = options
        options.isReadOnly = true
        options.createsFile = false
        guard FileSize.of(options.path) != 0 else { return [] }
        return try? {
            let database = try makeDatabase(options)
            defer { database.close() }
            return try database.read { connection in
                var found: Set<String> = []
                for table in try StoreCatalog.read(connection).tables where table.name.uppercased().hasPrefix("Z") {
                    for column in table.columns {
                        for row in try connection.rows(references(in: column, table: table.name)) {
                            guard case .blob(let value)? = row.first, let name = value.withUnsafeBytes(fileName) else {
                                continue
                            }
                            found.insert(name)
                        }
                    }
                }
                return found
            }
        }()
    }

    /// The start of each value: no more than tells an envelope that names a file, which has 38 bytes, from a longer one.
    static func references(in column: String, table: String) -> SelectStatement {
        let start = SQLExpression.function(.substring, [.column(nil, column), .integer(1), .integer(39)])
        var query = SelectStatement([.init(.cast(start, to: .bytes))], from: .init(table))
        query.condition = .isNotNull(.column(nil, column))
        return query
    }

    /// The files that may go with a store: those that its rows name, and no row of another database with this folder.
    ///
    /// Where others have the folder too, files that no row names may be those that one of them is about to save: they stay.
    func ownFiles(of options: DatabaseOptions, makeDatabase: DatabaseFactory) -> Set<String> {
        guard var own = Self.names(in: options, makeDatabase: makeDatabase) else { return [] }
        for path in neighbours where !own.isEmpty {
            guard let others = Self.names(in: DatabaseOptions(path: path), makeDatabase: makeDatabase) else {
                return []
            }
            own.subtract(others)
        }
        return own
    }
}
