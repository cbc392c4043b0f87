import Foundation

extension DispatchQueue {
    /// Runs the block on the queue and awaits its result, without blocking a thread.
    ///
    /// - Parameters:
    ///   - surroundings: calls its argument, and does the work before and after it.
    ///   - rescue: throws the block's error, which `rethrows` allows only a parameter to do.
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
