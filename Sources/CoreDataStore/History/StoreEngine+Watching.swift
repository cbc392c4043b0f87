extension StoreEngine {
    package func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)? {
        guard let path, let counter = try database.makeCommitCounter() else { return nil }
        return try FileWatch(path: path, counter: counter, changed: changed)
    }
}
