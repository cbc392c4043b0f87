import CoreDataSQL

extension StoreEngine {
    package func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)? {
        if let watch = try database.watchCommits(changed) { return DatabaseWatch(watch) }
        guard let path, let counter = try database.makeCommitCounter() else { return nil }
        return try FileWatch(path: path, counter: counter, changed: changed)
    }
}

/// A watch that the database itself provides.
private final class DatabaseWatch: SourceWatch {
    private let watch: any SQLCommitWatch

    init(_ watch: any SQLCommitWatch) { self.watch = watch }

    deinit { watch.cancel() }

    func cancel() { watch.cancel() }
}
