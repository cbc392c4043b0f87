import CoreDataSQL
import Foundation

// The folder of external data is named after its store without the extension, so several stores may share it:
//
//  Shop.sqlite ──┐
//  Shop.backup ──┴── .Shop_SUPPORT/_EXTERNAL_DATA
//
// A copy of a store under such a name even refers to the same files. So a file that one store releases may belong to
// the other.
extension ExternalData {
    /// The other files next to the store that may be databases with external data in the same folder.
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

    /// Whether files in the folder may belong to another store.
    package var isShared: Bool { !neighbours.isEmpty }

    private static func isCompanion(_ name: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    }

    /// Returns whether the file has whole pages, like a database. It must not be opened: closing it would release all
    /// locks of this process on it, including those of SQLite's connections. A false positive only means that unused
    /// files are not deleted.
    private static func mayBeDatabase(_ path: String, otherThan store: String) -> Bool {
        var (status, own) = (stat(), stat())
        let smallestPage: off_t = 512
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0,
            status.st_size % smallestPage == 0
        else { return false }
        return stat(store, &own) != 0 || own.st_ino != status.st_ino || own.st_dev != status.st_dev
    }

    /// Returns the files that rows of a database name, independent of its model; `nil` if unknown.
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
                        for row in try connection.rows(startsOfValues(in: column, table: table.name)) {
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

    /// Returns the start of each value: just enough to distinguish the 38 bytes of an envelope with a file name from a
    /// longer value.
    static func startsOfValues(in column: String, table: String) -> SelectStatement {
        let start = SQLExpression.function(.substring, [.column(nil, column), .integer(1), .integer(39)])
        var query = SelectStatement([.init(.cast(start, to: .bytes))], from: .init(table))
        query.condition = .isNotNull(.column(nil, column))
        return query
    }

    /// Returns the files that may be deleted with a store: those that its rows name, and no row of another database
    /// with this folder.
    ///
    /// If other stores share the folder, files that no row names are kept: another store may be about to save them.
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
