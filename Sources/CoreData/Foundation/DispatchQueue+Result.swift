import Foundation

extension DispatchQueue {
    /// Runs the block on the queue and waits for its result, without keeping a thread.
    ///
    /// - Parameters:
    ///   - surroundings: calls what it is given, and does what is to be done before and after it.
    ///   - rescue: throws what the block threw, which `rethrows` allows only a parameter to do.
    func result<T>(
        isolation: isolated (any Actor)? = #isolation, of block: @escaping @Sendable () throws -> T,
        within surroundings: @escaping @Sendable (() -> Void) -> Void = { $0() },
        rescue: (any Error) throws -> T
    ) async rethrows -> T {
        let result: Transfer<Result<T, any Error>> = await withCheckedContinuation { continuation in
            async {
                var result: Result<T, any Error>?
                surroundings { result = Result { try block() } }
                guard let result else { preconditionFailure("The block was not called.") }
                continuation.resume(returning: Transfer(result))
            }
        }
        switch result.value {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }
}
