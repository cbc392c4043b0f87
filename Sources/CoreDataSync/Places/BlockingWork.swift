import Dispatch

/// Runs calls that wait for a disk or compute for long on threads of Dispatch: tasks share few threads, which must not
/// wait.
enum BlockingWork {
    private static let queue = DispatchQueue(
        label: "com.apple.CoreData.sync.files", qos: .utility, attributes: .concurrent)

    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
